import type { Tensor } from "../engine.ts";
import { scope } from "../scope.ts";
import type { TorchEngine } from "./torchEngine.ts";

export interface GroupOptions {
  /** Where the store is at which the members meet. */
  readonly host: string;
  readonly port: number;
  /** This process, 0 to size − 1. */
  readonly rank: number;
  readonly size: number;
  /** "gloo" moves CPU tensors, "nccl" CUDA tensors. By default the one for the engine's device. */
  readonly backend?: "gloo" | "nccl";
  /** After this long without an answer a call fails; a lost peer fails it at once where the backend notices. */
  readonly timeoutSeconds?: number;
  /** Whether this member keeps the store. By default rank 0 does; no member where it is there already. */
  readonly servesStore?: boolean;
  /** Keeps the group's keys apart from others in the store. */
  readonly prefix?: string;
}

/** Processes that train one network together. Every member makes the same calls in the same order. */
export interface ProcessGroup {
  readonly rank: number;
  readonly size: number;
  /** Overwrites every member's tensors with those of `root`. */
  broadcast(tensors: readonly Tensor[], options?: { readonly root?: number }): void;
  /** Replaces each tensor by its mean over the members; the tensors travel as one. */
  average(tensors: readonly Tensor[]): void;
  leave(): void;
}

/** Joins the group; returns when all `size` members have. */
export function joinProcessGroup(engine: TorchEngine, options: GroupOptions): ProcessGroup {
  const { host, port, rank, size, backend = engine.device === "cpu" ? "gloo" : "nccl", timeoutSeconds = 300 } = options;
  const { servesStore = rank === 0, prefix = "dualfocus" } = options;
  const group = engine.native("joinGroup", host, port, rank, size, backend, timeoutSeconds, servesStore, prefix);

  /** Runs `exchange` on all tensors laid end to end, then copies the parts back. */
  const together = (tensors: readonly Tensor[], exchange: (flat: Tensor) => Tensor): void => {
    if (tensors.length === 0) return;
    engine.noGradient(() => {
      scope(() => {
        const sent = engine.concat(
          tensors.map((tensor) => tensor.reshape([-1])),
          0,
        );
        const received = engine.call("aten::unflatten_dense_tensors", exchange(sent), tensors) as Tensor[];
        for (const [i, tensor] of tensors.entries()) engine.copy(tensor, received[i] as Tensor);
      });
    });
  };

  return {
    rank,
    size,
    broadcast(tensors, { root = 0 } = {}) {
      together(tensors, (flat) => {
        engine.native("broadcast", group, flat, root);
        return flat;
      });
    },
    average(tensors) {
      together(tensors, (flat) => {
        engine.native("allReduce", group, flat);
        return flat.div(size);
      });
    },
    leave() {
      engine.native("leaveGroup", group);
    },
  };
}
