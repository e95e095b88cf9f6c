import { config } from "zod";

// The page's content security policy forbids code made from strings, which zod would otherwise try. Imported before any schema is made.
config({ jitless: true });
