// `dualfocus train`, `reproduce` and `bench` alone, for a machine without npm: nothing they load there needs an image decoder or ONNX Runtime.
import { Command } from "commander";

import { benchCommand } from "../../src/cli/bench.ts";
import { reproduceCommand } from "../../src/cli/reproduce.ts";
import { trainCommand } from "../../src/cli/train.ts";

await new Command("dualfocus")
  .addCommand(trainCommand())
  .addCommand(reproduceCommand())
  .addCommand(benchCommand())
  .parseAsync()
  .catch((error) => {
    console.error(process.env.DUALFOCUS_DEBUG ? error : `dualfocus: ${error.message}`);
    process.exitCode = error.exitCode ?? 1;
  });
