// The CPU's loops around lensKernel.h; included after it, in the same namespace.

/** Fills `list` with the primitives that rays of a tile can hit: nearest first, unbounded ones last. */
static Candidates findCandidates(const Picture& picture, int left, int top, Candidate* list) {
  int bounded = 0, unbounded = 0;
  Candidate endless[64];
  for (int k = 0; k < static_cast<int>(picture.camera[1]); k++) {
    const float* p = picture.primitives + k * PRIMITIVE_STRIDE;
    const float near = tileNear(picture, p, left, top);
    if (near >= FAR_AWAY) continue;
    const Candidate next = candidate(picture.primitives, k, near);
    if (p[31] > UNBOUNDED) {
      endless[unbounded++] = next;
      continue;
    }
    int place = bounded++;
    for (; place > 0 && list[place - 1].near > next.near; place--) list[place] = list[place - 1];
    list[place] = next;
  }
  std::copy(endless, endless + unbounded, list + bounded);
  return {list, bounded, bounded + unbounded};
}

template <class Out> static void store(Out* out, float value);
template <> void store(float* out, float value) { *out = value; }
template <> void store(uint8_t* out, float value) { *out = static_cast<uint8_t>(value * 255.f + 0.5f); }

template <class Out> static void renderTile(const Picture& picture, int left, int top, Out* out) {
  Candidate list[64];
  const Candidates candidates = findCandidates(picture, left, top, list);
  const int64_t pixels = static_cast<int64_t>(picture.width) * picture.height;
  for (int y = top; y < std::min(top + TILE, picture.height); y++)
    for (int x = left; x < std::min(left + TILE, picture.width); x++) {
      float colour[3];
      renderPixel(picture, candidates, x, y, colour);
      for (int c = 0; c < 3; c++) store(out + c * pixels + y * picture.width + x, colour[c]);
    }
}

static void renderDepthTile(const Picture& picture, int left, int top, float* out) {
  Candidate list[64];
  const Candidates candidates = findCandidates(picture, left, top, list);
  for (int y = top; y < std::min(top + TILE, picture.height); y++)
    for (int x = left; x < std::min(left + TILE, picture.width); x += LANES) {
      const Rays depth = pinholeDepth(picture, candidates, x, y);
      const int count = std::min(LANES, picture.width - x);
      std::memcpy(out + y * picture.width + x, &depth, count * sizeof(float));
    }
}

template <class Out> static void renderPictures(const LensBatch& batch) {
  const int64_t scenes = batch.primitives.size(0), planes = batch.focus.size(1), slots = batch.primitives.size(1);
  const int height = static_cast<int>(batch.images.size(3)), width = static_cast<int>(batch.images.size(4));
  const std::vector<float> lens = lensPoints(batch.samples, LANES);
  const float* cameras = batch.cameras.data_ptr<float>();
  const std::vector<float> corners = apertureCorners(cameras, scenes);
  const int columns = (width + TILE - 1) / TILE, rows = (height + TILE - 1) / TILE;
  const int64_t tiles = static_cast<int64_t>(columns) * rows, pixels = static_cast<int64_t>(width) * height;
  Out* const images = batch.images.data_ptr<Out>();
  Out* const allInFocus = batch.allInFocus.defined() ? batch.allInFocus.data_ptr<Out>() : nullptr;
  at::parallel_for(0, scenes * (planes + 1) * tiles, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; task++) {
      const int64_t scene = task / tiles / (planes + 1), plane = task / tiles % (planes + 1);
      const int left = static_cast<int>(task % columns) * TILE, top = static_cast<int>(task % tiles / columns) * TILE;
      Picture picture{};
      picture.primitives = batch.primitives.data_ptr<float>() + scene * slots * PRIMITIVE_STRIDE;
      picture.camera = cameras + scene * CAMERA_STRIDE;
      picture.textures = {reinterpret_cast<const uint32_t*>(batch.textures.data_ptr<uint8_t>()), textureBits(batch.textures)};
      picture.lensX = lens.data();
      picture.lensY = lens.data() + batch.samples + LANES;
      picture.corners = corners.data() + scene * CORNERS;
      picture.width = width, picture.height = height, picture.samples = batch.samples;
      picture.planes = static_cast<int>(planes), picture.index = static_cast<int>(plane);
      if (plane < planes) {
        aim(picture, batch.focus.data_ptr<float>() + (scene * planes + plane) * PLANE_STRIDE);
        renderTile(picture, left, top, images + (scene * planes + plane) * 3 * pixels);
      } else {
        aimPinhole(picture);
        if (allInFocus) renderTile(picture, left, top, allInFocus + scene * 3 * pixels);
        renderDepthTile(picture, left, top, batch.depth.data_ptr<float>() + scene * pixels);
      }
    }
  });
}

static void renderBatch(const LensBatch& batch) {
  if (batch.images.scalar_type() == at::kByte) renderPictures<uint8_t>(batch);
  else renderPictures<float>(batch);
}
