import type { Tensor } from "../engine.ts";
import { scope } from "../scope.ts";
import type { TorchEngine } from "./torchEngine.ts";

export interface GroupOptions {
  /** Address of the store through which the members find each other. */
  readonly host: string;
  readonly port: number;
  /** This process, 0 to size − 1. */
  readonly rank: number;
  readonly size: number;
  /** "gloo" for CPU tensors, "nccl" for CUDA tensors. Default: the one for the engine's device. */
  readonly backend?: "gloo" | "nccl";
  /** A call without an answer fails after this time; if the backend notices a lost peer, at once. */
  readonly timeoutSeconds?: number;
  /** Whether this member runs the store. Default: rank 0 does. Set it to false on all members if the store already exists. */
  readonly servesStore?: boolean;
  /** Separates the group's keys from others in the store. */
  readonly prefix?: string;
}

/** Processes that train one network together. Every member makes the same calls in the same order. */
export interface ProcessGroup {
  readonly rank: number;
  readonly size: number;
  /** Overwrites every member's tensors with those of `root`. */
  broadcast(tensors: readonly Tensor[], options?: { readonly root?: number }): void;
  /** Replaces each tensor by its mean over the members, in one exchange. */
  average(tensors: readonly Tensor[]): void;
  leave(): void;
}

/** Joins the group; returns when all `size` members have. */
export function joinProcessGroup(engine: TorchEngine, options: GroupOptions): ProcessGroup {
  const { host, port, rank, size, backend = engine.device === "cpu" ? "gloo" : "nccl", timeoutSeconds = 300 } = options;
  const { servesStore = rank === 0, prefix = "dualfocus" } = options;
  const group = engine.native("joinGroup", host, port, rank, size, backend, timeoutSeconds, servesStore, prefix);

  /** Concatenates the tensors, runs `exchange` on the result and copies the parts back. */
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
