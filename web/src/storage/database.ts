/** One small database of the page's origin. */
const NAME = "dualfocus";
const STORE = "last result";

/** Runs one request against the store; the promise settles when it is on disk. */
async function within<T>(mode: IDBTransactionMode, use: (store: IDBObjectStore) => IDBRequest<T>): Promise<T> {
  const database = await open();
  try {
    return await new Promise<T>((resolve, reject) => {
      const transaction = database.transaction(STORE, mode);
      const request = use(transaction.objectStore(STORE));
      const fail = (): void => {
        reject(transaction.error ?? request.error ?? new Error("the browser's storage does not work"));
      };
      transaction.oncomplete = () => {
        resolve(request.result);
      };
      transaction.onerror = fail;
      transaction.onabort = fail;
    });
  } finally {
    database.close();
  }
}

const open = (): Promise<IDBDatabase> =>
  new Promise((resolve, reject) => {
    const request = indexedDB.open(NAME, 1);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(STORE);
    };
    request.onsuccess = () => {
      resolve(request.result);
    };
    request.onerror = () => {
      reject(request.error ?? new Error("the browser has no storage"));
    };
  });

export const readValue = (key: string): Promise<unknown> => within<unknown>("readonly", (store) => store.get(key) as IDBRequest<unknown>);

export const writeValue = (key: string, value: unknown): Promise<unknown> => within("readwrite", (store) => store.put(value, key));

export const removeAll = (): Promise<unknown> => within("readwrite", (store) => store.clear());
