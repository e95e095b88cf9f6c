// Part of lensKernel.h: intersections of rays with primitives.

struct Ray {
  Rays ox, oy, dx, dy; // from (ox, oy, 0) along (dx, dy, 1): its parameter is depth
};

struct Local {
  Rays lx, ly, lz, ex, ey, ez;
};

LENS_FN void boxDepths(const Local& r, Rays& near, Rays& far) {
  const Rays ix = reciprocal(r.ex), iy = reciprocal(r.ey), iz = reciprocal(r.ez);
  const Rays ax = absolute(ix), ay = absolute(iy), az = absolute(iz);
  const Rays cx = -r.lx * ix, cy = -r.ly * iy, cz = -r.lz * iz;
  near = larger(cx - ax, larger(cy - ay, cz - az));
  far = smaller(cx + ax, smaller(cy + ay, cz + az));
}

LENS_FN Rays cylinderDepth(const Local& r) {
  const Rays per = reciprocal(r.ex * r.ex + r.ey * r.ey + SLOPE_FLOOR);
  const Rays middle = -(r.lx * r.ex + r.ly * r.ey) * per, mx = r.lx + middle * r.ex, my = r.ly + middle * r.ey;
  const Rays d = 1.f - mx * mx - my * my;
  if (!any(d >= 0.f)) return splat(-1.f);
  const Rays side = middle - root(larger(d, splat(0.f)) * per);
  const Rays cap = (select(r.ez > 0.f, splat(-1.f), splat(1.f)) - r.lz) * reciprocal(r.ez);
  const Rays x = r.lx + cap * r.ex, y = r.ly + cap * r.ey;
  const Rays end = select(x * x + y * y <= 1.f, cap, splat(-1.f));
  const Rays t = select((side > 0.f) & (absolute(r.lz + side * r.ez) <= 1.f), side, end);
  return select(d >= 0.f, t, splat(-1.f));
}

LENS_FN Rays fraction(Rays x) { return x - whole(x); }

LENS_FN Mask quadHolds(const float* p, int type, Rays x, Rays y, const Textures& textures) {
  const Mask inside = (absolute(x) <= 1.f) & (absolute(y) <= 1.f);
  if (type == QUAD) return inside;
  const float amount = p[24], repeats = p[26];
  switch (type) {
  case TEXTURE_QUAD: {
    const int side = 1 << textures.bits;
    const Ints u = toInt(whole(x * (repeats * side))) & (side - 1), v = toInt(whole(y * (repeats * side))) & (side - 1);
    const Words texel = fetch(textures.texels, (uint32_t)p[25] << (2 * textures.bits), v * side + u);
    return inside & (fromByte(texel, 1) >= amount * 255.f);
  }
  case LEAF:
    return inside & (absolute(y) <= (1.f - x * x) * (0.95f - 0.4f * x) * (1.f - amount * fraction(4.f * (x + 1.f))));
  case GRID:
    return inside & ((fraction((x + 1.f) * (0.5f * repeats)) < amount) | (fraction((y + 1.f) * (0.5f * repeats)) < amount));
  default: // disk
    return inside & (x * x + y * y <= 1.f);
  }
}

LENS_FN void addWave(Rays x, Rays y, float wx, float wy, float f, float weight, float phase, Rays& height, Rays& sx, Rays& sy) {
  const Rays u = fraction(f * (wx * x + wy * y) + phase) - 0.5f;
  height += weight * 16.f * u * (0.5f - absolute(u));
  const Rays steepness = weight * f * (8.f - 32.f * absolute(u));
  sx += steepness * wx;
  sy += steepness * wy;
}

LENS_FN Rays fieldHeight(Rays x, Rays y, float frequency, float seed, Rays& sx, Rays& sy) {
  Rays height = splat(0.f);
  sx = sy = splat(0.f);
  addWave(x, y, 1.f, 0.f, frequency, 4 / 7.f, seed, height, sx, sy);
  addWave(x, y, -0.7373937f, 0.6754632f, 1.7f * frequency, 2 / 7.f, 2 * seed, height, sx, sy);
  addWave(x, y, 0.0874989f, -0.9961646f, 2.9f * frequency, 1 / 7.f, 3 * seed, height, sx, sy);
  return height;
}

LENS_FN Rays heightFieldDepth(const float* p, const Local& r) {
  const float seed = p[25], frequency = p[26];
  Rays near, far, sx, sy;
  boxDepths(r, near, far);
  Mask alive = (far > 0.f) & (near <= far);
  if (!any(alive)) return splat(-1.f);
  const Rays speed = absolute(r.ez) + (8 / 7.f * frequency) * (4.f * absolute(r.ex) + 3.4f * absolute(0.7373937f * r.ex - 0.6754632f * r.ey) +
                                                               2.9f * absolute(0.0874989f * r.ex - 0.9961646f * r.ey));
  Rays t = larger(near, splat(0.f)), gap = splat(1.f);
  for (int i = 0; i < 64; i++) {
    const Rays now = r.lz + t * r.ez - fieldHeight(r.lx + t * r.ex, r.ly + t * r.ey, frequency, seed, sx, sy);
    gap = select(alive, now, gap);
    alive = alive & (absolute(gap) >= 0.02f);
    t = select(alive, t + divide(absolute(gap), speed), t);
    alive = alive & (t <= far);
    if (!any(alive)) break;
  }
  const Mask hit = (far > 0.f) & (near <= far) & (t <= far) & (absolute(gap) <= 0.05f);
  for (int i = 0; i < 3; i++) {
    gap = r.lz + t * r.ez - fieldHeight(r.lx + t * r.ex, r.ly + t * r.ey, frequency, seed, sx, sy);
    const Rays rate = r.ez - sx * r.ex - sy * r.ey;
    t = select(absolute(rate) > 0.05f * speed, t - divide(gap, rate), t);
  }
  return select(hit, t, splat(-1.f));
}

/** Depth at which the ray hits the primitive, or `limit` if it does not hit it nearer than that. */
LENS_FN Rays hitDepth(const float* p, int type, const Ray& ray, Rays limit, const Textures& textures) {
  const Row a = rowOf(p), b = rowOf(p + 4), c = rowOf(p + 8);
  const Local r{a.x * ray.ox + (a.y * ray.oy + a.w), b.x * ray.ox + (b.y * ray.oy + b.w), c.x * ray.ox + (c.y * ray.oy + c.w),
                a.x * ray.dx + (a.y * ray.dy + a.z), b.x * ray.dx + (b.y * ray.dy + b.z), c.x * ray.dx + (c.y * ray.dy + c.z)};
  Rays t;
  switch (type) {
  case ELLIPSOID: {
    // Measured from the point nearest to the centre, to avoid cancellation.
    const Rays per = reciprocal(r.ex * r.ex + r.ey * r.ey + r.ez * r.ez), middle = -(r.lx * r.ex + r.ly * r.ey + r.lz * r.ez) * per;
    const Rays mx = r.lx + middle * r.ex, my = r.ly + middle * r.ey, mz = r.lz + middle * r.ez;
    const Rays d = 1.f - mx * mx - my * my - mz * mz;
    if (!any(d >= 0.f)) return limit;
    t = select(d >= 0.f, middle - root(larger(d, splat(0.f)) * per), splat(-1.f));
    break;
  }
  case BOX:
  case ROOM: {
    Rays near, far;
    boxDepths(r, near, far);
    t = select(near <= far, type == ROOM ? far : near, splat(-1.f));
    break;
  }
  case CYLINDER:
    t = cylinderDepth(r);
    break;
  case HEIGHT_FIELD:
    t = heightFieldDepth(p, r);
    break;
  case PLANE:
    t = divide(-r.lz, r.ez);
    break;
  default: { // quads
    t = divide(-r.lz, r.ez);
    const Mask ahead = (t > 0.f) & (t < limit);
    if (!any(ahead)) return limit;
    return select(ahead & quadHolds(p, type, r.lx + t * r.ex, r.ly + t * r.ey, textures), t, limit);
  }
  }
  return select((t > 0.f) & (t < limit), t, limit);
}

/** The nearest surface: its depth, and its candidate's code (-1: none). */
LENS_FN Rays trace(const Picture& picture, const Candidates& candidates, const Ray& ray, Ints& hit) {
  Rays t = splat(FAR_AWAY);
  hit = splatInt(-1);
  for (int k = 0; k < candidates.total; k++) {
    const Candidate next = candidates.list[k];
    if (k < candidates.bounded && !any(t > next.near)) { // all further bounded candidates are farther away
      k = candidates.bounded - 1;
      continue;
    }
    const float* p = picture.primitives + (next.code & ((1 << TYPE_SHIFT) - 1));
    const Rays depth = hitDepth(p, next.code >> TYPE_SHIFT, ray, t, picture.textures);
    hit = select(depth < t, splatInt(next.code), hit);
    t = depth;
  }
  return t;
}
