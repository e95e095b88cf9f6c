import assert from "node:assert/strict";
import { test } from "node:test";
import {
  countTyped,
  parseDistanceFile,
  parseDistances,
  parseDistanceSteps,
  steppedDistances,
  typedDistances,
} from "../../src/stack/distanceList.ts";
import { distancesInNames } from "../../src/stack/fileNameDistance.ts";
import { distanceTexts, metresPer, parseQuantity, unify } from "../../src/stack/quantity.ts";
import { DualFocusError } from "../../src/errors.ts";
import { FormatError } from "../../src/io/formatError.ts";
import { createRandom } from "../../src/random.ts";

test("numbers are read with their units, and nothing else is", () => {
  assert.deepEqual(parseQuantity("0.65"), { value: 0.65 });
  assert.deepEqual(parseQuantity(" 650 mm "), { value: 650, unit: "mm" });
  assert.deepEqual(parseQuantity("65cm"), { value: 650, unit: "mm" });
  assert.deepEqual(parseQuantity("1.1cm"), { value: 11, unit: "mm" }); // not 11.000000000000002
  assert.deepEqual(parseQuantity("7in"), { value: 177.8, unit: "mm" });
  assert.deepEqual(parseQuantity("2.0D"), { value: 2, unit: "dpt" });
  assert.deepEqual(parseQuantity("1e-3m"), { value: 0.001, unit: "m" });
  assert.deepEqual(parseQuantity("-1.5µm"), { value: -1.5, unit: "um" });
  assert.deepEqual(parseQuantity("inf"), { value: Infinity });
  for (const bad of ["", "abc", "1.2.3", "5 apples", "NaN", "0x10", "1,5", "--1"]) assert.equal(parseQuantity(bad), undefined, bad);
  const metres = ["metres", "cm", "mm", "micron", "Âµm", "nm", "inch"].map(metresPer);
  assert.deepEqual(metres, [1, 0.01, 0.001, 1e-6, 1e-6, 1e-9, 0.0254]);
  assert.equal(metresPer("reference frame"), undefined);
});

test("mixed lengths become metres, an infinite one makes dioptres", () => {
  assert.deepEqual(
    unify(
      [
        { value: 500, unit: "mm" },
        { value: 2, unit: "m" },
      ],
      "m",
    ),
    { values: [0.5, 2], unit: "m" },
  );
  assert.deepEqual(unify([{ value: 0.5 }, { value: Infinity }], "m"), { values: [2, 0], unit: "dpt" });
  assert.deepEqual(unify([{ value: 3 }, { value: 4 }], "mm"), { values: [3, 4], unit: "mm" });
  assert.equal(unify([{ value: 3, unit: "index" }, { value: 4 }], "m"), undefined);
});

test("distances are shown with three digits, and with as many more as tell the planes apart", () => {
  assert.deepEqual(distanceTexts([0.0784684, 0.5, 1.2599999904632568]), ["0.0785", "0.5", "1.26"]); // steps of 0.42 and 0.76
  assert.deepEqual(distanceTexts([150, 150.1, 150.30000000000001]), ["150", "150.1", "150.3"]);
  assert.deepEqual(distanceTexts([-2998.50004, -2998, -2997.50004]), ["-2998.5", "-2998", "-2997.5"]);
  assert.deepEqual(distanceTexts([-1e-9, 12.3456, 1234.56]), ["-1e-9", "12.3", "1234.6"]);
  assert.deepEqual([distanceTexts([0.123456]), distanceTexts([]), distanceTexts([0, 0])], [["0.123"], [], ["0", "0"]]);
  assert.deepEqual(distanceTexts([1.001, 1.002, 1.002]), ["1.001", "1.002", "1.002"]);
});

test("a list as typed is read, and the error names the word that is not a number", () => {
  assert.deepEqual(parseDistances("0.5, 65cm,inf"), [{ value: 0.5 }, { value: 650, unit: "mm" }, { value: Infinity }]);
  assert.throws(() => parseDistances("1,two,3"), /“two” is not a focus distance/);
});

test("a unit may stand apart from its number", () => {
  const mm = [10, 11, 12].map((value) => ({ value, unit: "mm" }));
  for (const text of ["10 mm,11 mm,12 mm", "10 mm, 11 mm, 12 mm", "10 mm 11 mm 12 mm", "10 mm;11mm; 12\u00a0mm", "10mm 11mm 12mm"])
    assert.deepEqual(parseDistances(text), mm, text);
  assert.deepEqual(typedDistances("10 mm + 1 mm", 3), mm);
  const quantities = (text: string): unknown => parseDistanceFile(text).entries.map(({ quantity }) => quantity);
  assert.deepEqual(quantities("a.jpg,10 mm\nb.jpg,11 mm\nc.jpg,12 mm"), mm);
  assert.deepEqual(parseDistances("4. D 2 dpt inf"), [{ value: 4, unit: "dpt" }, { value: 2, unit: "dpt" }, { value: Infinity }]);
  assert.throws(() => parseDistances("10 mm, 11 apples"), /“apples” is not a focus distance/);
});

test("a decimal comma is refused with a hint, and a comma between whole numbers separates them", () => {
  const point = /decimals are written with a point/;
  for (const text of ["0,5 0,7 1,0", "0,5;0,7", "0,5; 0,7m; 1", "1; 0,5", "50,5mm 60,5mm", "0,5 m 0,7 m", "50,5 mm,60,5 mm", "0,5 m"])
    assert.throws(() => parseDistances(text), (error) => error instanceof DualFocusError && error.code === "distances-invalid" && point.test(error.message), text); // prettier-ignore
  assert.throws(() => parseDistances("150,5mm+0,1mm"), point);
  assert.throws(() => parseDistances("150mm+0,1mm"), point);
  for (const text of ["1,2,3", "1, 2, 3", "1 2 3", "1;2;3", "1,\n2,\n3"])
    assert.deepEqual(parseDistances(text), [{ value: 1 }, { value: 2 }, { value: 3 }], text); // prettier-ignore
  assert.deepEqual(parseDistances("0,5"), [{ value: 0 }, { value: 5 }]); // two planes
  for (const text of ["a.jpg;0,5\nb.jpg;0,7", "file;mm\na.jpg;0,5", "a.jpg 0,5\nb.jpg 0,7", "a.jpg\t0,5 m", "0,5\n0,7\n1,0", "-0,5\n-0,7", "0,50m\n0,70m"])
    assert.throws(() => parseDistanceFile(text, "f.csv"), (error) => error instanceof FormatError && /^f\.csv: line [12]: “-?0,/.test(error.message) && point.test(error.message), text); // prettier-ignore
  const values = (text: string): unknown => parseDistanceFile(text).entries.map(({ quantity: { value } }) => value);
  assert.deepEqual(values("1,5\n2,7\n3,7.5"), [5, 7, 7.5]); // a counter and a distance
  assert.deepEqual(values("a.jpg,5\nb.jpg,7"), [5, 7]);
  const many = Array.from({ length: 100_000 }, (_, n) => n + 1); // no two are compared with each other
  assert.deepEqual(values(many.map((n) => `${n},${n}`).join("\n")), many);
});

test("decimal commas without spaces are recognised where the whole numbers cannot be the distances of a stack", () => {
  const refused = (text: string, images: number, problem: string, points: string): void => {
    const message = `“${text}” is not a list of focus distances: ${problem}; if these are decimals, write them with a point: ${points}`;
    assert.throws(() => typedDistances(text, images), { code: "distances-invalid", message });
  };
  for (const images of [2, 4]) refused("0,5,0,7", images, "a number is in it twice", "0.5,0.7");
  refused("0,5,0,7,1,0", 3, "a number is in it twice", "0.5,0.7,1.0");
  refused("50,5mm,60,5mm", 2, "a number is in it twice", "50.5mm,60.5mm");
  refused("-1,5,-1,25", 2, "a number is in it twice", "-1.5,-1.25");
  refused("0,5,1,2", 2, "there are 4 for 2 images", "0.5,1.2");
  const values = (text: string, images: number): number[] => typedDistances(text, images).map(({ value }) => value);
  assert.deepEqual(values("0,5,1,2", 4), [0, 5, 1, 2]); // in dioptres, or plane indices
  assert.deepEqual(values("0,5", 2), [0, 5]);
  assert.deepEqual(values("1,2,3,4", 3), [1, 2, 3, 4]); // one too many
  assert.deepEqual(values("1, 2, 2, 3", 4), [1, 2, 2, 3]); // a comma and a space always separate
  assert.deepEqual(values("0.5,0.7,0.5,0.9", 4), [0.5, 0.7, 0.5, 0.9]);
  assert.equal(countTyped("0,5"), 2);
});

test("a first distance and a step", () => {
  const of = (text: string, images = 4): unknown => {
    const steps = parseDistanceSteps(text);
    return steps && steppedDistances(steps, images);
  };
  const mm = (...values: number[]): unknown => values.map((value) => ({ value, unit: "mm" }));
  assert.deepEqual(of("150mm+0.1mm"), mm(150, 150.1, 150.2, 150.3));
  assert.deepEqual(of("15cm + -1mm"), mm(150, 149, 148, 147));
  assert.deepEqual(of("0.5+1e-1", 3), [{ value: 0.5 }, { value: 0.6 }, { value: 0.7 }]);
  assert.deepEqual(
    of("100mm+500um", 3),
    [0.1, 0.1005, 0.101].map((value) => ({ value, unit: "m" })),
  );
  assert.deepEqual(
    of("4dpt+-0.5dpt", 2),
    [4, 3.5].map((value) => ({ value, unit: "dpt" })),
  );
  for (const text of ["1e+3", "0.5", "0.5,0.6", "+0.5", "1+2+3", "inf+1", "2dpt+1mm", "rail+1.csv", ""])
    assert.equal(of(text), undefined, text);
  assert.throws(() => of("0.15+0.1mm"), /“0.15\+0.1mm”: the unit of the first distance is missing/); // 0.15 m or 0.15 mm?
  assert.throws(() => of("15cm+1"), /the unit of the step is missing; give both, such as 150mm\+0.1mm/);
});

test("one number a line, a table with names, a heading with a unit", () => {
  const quantities = (text: string): unknown => parseDistanceFile(text).entries.map(({ quantity }) => quantity);
  assert.deepEqual(quantities("525.7\n208\r\n\n# far first\n10.0\n"), [{ value: 525.7 }, { value: 208 }, { value: 10 }]);
  assert.deepEqual(parseDistanceFile("file,distance_mm\na.jpg,100\nb.jpg,200\n").entries, [
    { file: "a.jpg", quantity: { value: 100, unit: "mm" } },
    { file: "b.jpg", quantity: { value: 200, unit: "mm" } },
  ]);
  assert.deepEqual(quantities("run\tfocus [cm]\tf-number\n1\t50\t2.8\n2\t60\t2.8"), [
    { value: 500, unit: "mm" },
    { value: 600, unit: "mm" },
  ]);
  assert.deepEqual(parseDistanceFile("a.jpg 0.5 m\nb.jpg 0.7 m").entries[0], { file: "a.jpg", quantity: { value: 0.5, unit: "m" } });
  assert.deepEqual(quantities("0.5 m\n700 mm"), [
    { value: 0.5, unit: "m" },
    { value: 700, unit: "mm" },
  ]);
});

test("what is wrong with a list is named with its line", () => {
  assert.throws(() => parseDistanceFile("1\n2\nthree\n", "focus.txt"), /focus\.txt: line 3: “three” is not a focus distance/);
  assert.throws(() => parseDistanceFile("", "focus.txt"), /focus\.txt: no focus distances/);
  assert.throws(() => parseDistanceFile("file,distance\na.jpg,\n", "f.csv"), /f\.csv: line 2: “”/);
});

test("the distance in a file name is the number with a unit or a fraction that changes, never a counter or a date", () => {
  const values = (...names: string[]): unknown => distancesInNames(names)?.map(({ value, unit }) => (unit ? `${value} ${unit}` : value));
  assert.deepEqual(values("image_1_0.5.jpg", "image_2_0.65.jpg", "image_3_0.80.jpg"), [0.5, 0.65, 0.8]);
  assert.deepEqual(values("f50mm_650mm.jpg", "f50mm_800mm.jpg"), ["650 mm", "800 mm"]);
  assert.deepEqual(values("a 2.0dpt.png", "b 1.5dpt.png", "c 0dpt.png"), ["2 dpt", "1.5 dpt", "0 dpt"]);
  assert.deepEqual(values("z_-5um.tif", "z_0um.tif"), ["-5 um", "0 um"]);
  assert.deepEqual(values("0.5.jpg", "0.45.jpg", "1.jpg"), [0.5, 0.45, 1]);
  assert.deepEqual(values("x-0.5.jpg", "x-0.6.jpg"), [0.5, 0.6]);
  assert.deepEqual(values("500mm_2dpt.jpg", "1000mm_1dpt.jpg"), ["500 mm", "1000 mm"]);
  assert.deepEqual(values("1_0.3_2.5.jpg", "2_0.2_2.9.jpg", "3_0.4_3.1.jpg"), [2.5, 2.9, 3.1], "the monotonic one");
  for (const counters of [
    ["IMG_1234.JPG", "IMG_1236.JPG", "IMG_1240.JPG"],
    ["20230131_120000.jpg", "20230131_120002.jpg"],
    ["2023.01.31 12.30.45.jpg", "2023.01.31 12.30.47.jpg"],
    ["pcb_001.jpg", "pcb_002.jpg"],
    ["img_run_1_aperture_F2.8.jpg", "img_run_2_aperture_F2.8.jpg"],
    ["a.jpg", "b2.jpg"],
  ])
    assert.equal(values(...counters), undefined, counters[0]);
  assert.throws(() => values("500mm_4dpt.jpg", "1000mm_1dpt.jpg"), /500mm_4dpt\.jpg: its name states two different distances/);
});

test("random text never breaks the readers of lists and names", () => {
  const random = createRandom(3);
  const alphabet = "01259.,;-+ \t\n\rmµudptinfD_#\"'xe∞/=()";
  const noise = (): string => Array.from({ length: random.integer(60) }, () => alphabet[random.integer(alphabet.length)]).join("");
  for (let round = 0; round < 2000; round++) {
    for (const read of [
      () => parseDistanceFile(noise()),
      () => parseDistances(noise()),
      () => distancesInNames([noise(), noise(), noise()]),
    ])
      try {
        read();
      } catch (error) {
        assert.ok(error instanceof DualFocusError, String(error));
      }
  }
});
