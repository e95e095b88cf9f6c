import type { ComponentChildren, VNode } from "preact";

/** How to photograph a focal stack, in four drawings. */
export function HowToShoot(): VNode {
  return (
    <details class="how-to card">
      <summary>How to shoot a focal stack</summary>
      <ol>
        <Step title="Rest the camera" drawing={<Resting />}>
          On a tripod, a table or a pile of books. The scene stays still, too. Small movements are corrected.
        </Step>
        <Step title="Hold the exposure" drawing={<Exposure />}>
          Set exposure and white balance by hand, or lock them. Open the aperture: the less is sharp at once, the better.
        </Step>
        <Step title="Move the focus" drawing={<Steps />}>
          Five to ten photos with manual focus or focus bracketing, from just before the nearest thing to just behind the farthest. On a
          phone, use a camera app with manual focus.
        </Step>
        <Step title="Or film it" drawing={<Filming />}>
          Film while the focus moves slowly from near to far, once, in about five seconds. Drop the photos or the video here.
        </Step>
      </ol>
    </details>
  );
}

function Step({ title, drawing, children }: { title: string; drawing: VNode; children: ComponentChildren }): VNode {
  return (
    <li>
      <svg viewBox="0 0 160 90" aria-hidden="true">
        {drawing}
      </svg>
      <h3>{title}</h3>
      <p>{children}</p>
    </li>
  );
}

/** A camera that looks to the right; its lens ends at x + 40. */
function Camera({ x, y }: { x: number; y: number }): VNode {
  return (
    <g class="line">
      <rect x={x} y={y} width="28" height="22" rx="4" />
      <rect x={x + 28} y={y + 4} width="12" height="14" rx="2" />
    </g>
  );
}

/** A ball, a cube and a house, from near to far. */
function Things({ sharp }: { sharp?: number }): VNode {
  const look = (n: number): string => (sharp === undefined || sharp === n ? "thing" : "thing is-blurred");
  return (
    <>
      <circle class={look(0)} cx="78" cy="60" r="9" />
      <rect class={look(1)} x="101" y="48" width="17" height="17" />
      <path class={look(2)} d="M130 60 v-18 l10 -10 l10 10 v18 z" />
    </>
  );
}

function Resting(): VNode {
  return (
    <>
      <Camera x={12} y={36} />
      <path class="line" d="M26 58 v6 M26 64 l-12 20 M26 64 v20 M26 64 l12 20" />
      <path class="ground" d="M4 84 h152" />
      <g transform="translate(0 15)">
        <Things />
      </g>
    </>
  );
}

function Exposure(): VNode {
  return (
    <>
      <g transform="translate(44 45)">
        <circle class="line" r="28" />
        {[0, 60, 120, 180, 240, 300].map((turn) => (
          <path key={turn} class="line" d="M28 0 L6 12" transform={`rotate(${turn})`} />
        ))}
      </g>
      <g transform="translate(112 46)">
        <rect class="line" x="-18" y="-6" width="36" height="28" rx="5" />
        <path class="line" d="M-10 -6 v-9 a10 10 0 0 1 20 0 v9" />
        <circle class="thing" cy="8" r="4" />
      </g>
    </>
  );
}

function Steps(): VNode {
  return (
    <>
      <Camera x={6} y={40} />
      {[68, 86, 104, 122, 140, 156].map((x, n) => (
        <path key={x} class={n === 2 ? "plane is-sharp" : "plane"} d={`M${x} 22 v52`} />
      ))}
      <Things sharp={1} />
      <path class="line" d="M66 14 h86 m-6 -4 l6 4 l-6 4" />
    </>
  );
}

function Filming(): VNode {
  return (
    <>
      <rect class="line" x="14" y="24" width="132" height="46" rx="5" />
      {[0, 1, 2].map((n) => (
        <g key={n} transform={`translate(${20 + 42 * n} 30)`}>
          <rect class="frame" width="36" height="34" rx="2" />
          <circle class={n === 0 ? "thing" : "thing is-blurred"} cx="11" cy="24" r="6" />
          <rect class={n === 2 ? "thing" : "thing is-blurred"} x="20" y="8" width="11" height="11" />
        </g>
      ))}
    </>
  );
}
