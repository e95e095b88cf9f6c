/** One thing that happened. No addresses, no names of files, no paths: nothing of the user's. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;
export type Log = (level: "info" | "warning" | "error", event: string, fields?: LogFields) => void;

/** One JSON document a line. */
export function createLog(output: { write(text: string): unknown }, { now = () => new Date() }: { now?: () => Date } = {}): Log {
  return (level, event, fields = {}) => {
    output.write(`${JSON.stringify({ time: now().toISOString(), level, event, ...fields })}\n`);
  };
}
