import { config } from "zod";

// The page's content security policy forbids eval, which zod would otherwise use. Must be imported before any schema is created.
config({ jitless: true });
