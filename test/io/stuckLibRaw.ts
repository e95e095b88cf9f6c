// Stands for a decoder that a file has led astray; the length of the file says how.
const chunks: Buffer[] = [];
for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
const { length } = Buffer.concat(chunks);
if (length === 0) process.abort();
if (length > 1) for (;;);
process.stdout.write(Buffer.alloc(100, 1)); // a head that claims more pixels than follow
