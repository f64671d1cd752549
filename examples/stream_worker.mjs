// A worker for stream tasks in Node, without any package: node stream_worker.mjs redis://localhost:6379 thumbs thumb
// It makes "thumbnails" of the job type it is given and hands on all others. See docs/streams.md for the messages.
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { dirname } from 'node:path';

const [url = 'redis://localhost:6379', name = 'thumbs', jobType = 'thumb'] = process.argv.slice(2);
const [requests, group, me] = [`${name}.requests`, 'workers', `node:${process.pid}`];

// RESP: a command is an array of bulk strings; an answer is read to its end, however it is cut into packets.
const socket = connect(Number(new URL(url).port || 6379), new URL(url).hostname);
let buffer = Buffer.alloc(0);
const waiting = [];
function parse(at) {
  const end = buffer.indexOf('\r\n', at);
  if (end < 0) return null;
  const [kind, text, next] = [String.fromCharCode(buffer[at]), buffer.toString('utf8', at + 1, end), end + 2];
  if (kind === '+' || kind === ':') return [text, next];
  if (kind === '-') return [new Error(text), next];
  const size = Number(text);
  if (size < 0) return [null, next];
  if (kind === '$') return buffer.length < next + size + 2 ? null : [buffer.toString('utf8', next, next + size), next + size + 2];
  const list = [];
  let place = next;
  for (let n = 0; n < size; n++) {
    const part = parse(place);
    if (part === null) return null;
    list.push(part[0]);
    place = part[1];
  }
  return [list, place];
}
socket.on('data', (data) => {
  buffer = Buffer.concat([buffer, data]);
  for (let part; waiting.length && (part = parse(0)) !== null; buffer = buffer.subarray(part[1])) {
    const { resolve, reject } = waiting.shift();
    part[0] instanceof Error ? reject(part[0]) : resolve(part[0]);
  }
});
socket.on('close', () => process.exit(1)); // Whoever started this starts it again; its request is taken over.
socket.on('error', (error) => console.error(error.message));
function redis(...words) {
  const parts = words.map((word) => Buffer.from(String(word)));
  socket.write(Buffer.concat([Buffer.from(`*${parts.length}\r\n`), ...parts.flatMap((part) => [Buffer.from(`$${part.length}\r\n`), part, Buffer.from('\r\n')])]));
  return new Promise((resolve, reject) => waiting.push({ resolve, reject }));
}
const add = (kind, fields) => redis('XADD', `${name}.${kind}`, '*', ...Object.entries(fields).flat());

async function work({ jobId, options }) {
  const { fence, outputPath, args = {} } = JSON.parse(options);
  const cancelled = async () => Number((await redis('GET', `${name}.cancelled:${jobId}`)) ?? 0) >= fence;
  if (await cancelled()) return add('results', { jobId, fence, status: 'CANCELLED' });
  await add('progress', { jobId, fence, progress: 10, phase: 'DRAW', message: '' });
  const png = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');
  const path = outputPath ?? args.outputPath;
  if (!path) return add('results', { jobId, fence, status: 'FAILED', errorCode: 'NO_OUTPUT_PATH', errorMessage: 'where to?', permanent: 'true' });
  mkdirSync(dirname(path), { recursive: true });
  try {
    writeFileSync(path, png, { flag: 'wx' }); // Never overwrite: whoever was here before wrote the same.
  } catch (error) {
    if (error.code !== 'EEXIST') return add('results', { jobId, fence, status: 'FAILED', errorCode: error.code, errorMessage: error.message });
  }
  if (await cancelled()) return add('results', { jobId, fence, status: 'CANCELLED' });
  return add('results', { jobId, fence, status: 'SUCCEEDED', resultUri: path, checksum: createHash('sha256').update(png).digest('hex') });
}

let running = true;
for (const signal of ['SIGTERM', 'SIGINT']) process.on(signal, () => { running = false; });
await redis('XGROUP', 'CREATE', requests, group, '0', 'MKSTREAM').catch(() => {}); // The server was faster.
for (let [place, lookAt] = ['0', 0]; running;) {
  let entries = [];
  if (Date.now() >= lookAt) { // Once a second, and each time further: what is handed on must not hide what is behind.
    [place, entries] = await redis('XAUTOCLAIM', requests, group, me, 30_000, place, 'COUNT', 1);
    lookAt = Date.now() + 1000;
  }
  if (!entries.length) entries = (await redis('XREADGROUP', 'GROUP', group, me, 'COUNT', 1, 'BLOCK', 1000, 'STREAMS', requests, '>'))?.[0][1] ?? [];
  for (const [id, flat] of entries) {
    const fields = Object.fromEntries(Array.from({ length: (flat ?? []).length / 2 }, (_, n) => [flat[2 * n], flat[2 * n + 1]]));
    if (fields.jobType !== undefined && fields.jobType !== jobType) {
      await redis('XCLAIM', requests, group, me, 0, id, 'IDLE', 3_600_000); // For another; never acknowledged here.
      continue;
    }
    if (fields.jobId) await work(fields);
    await redis('XACK', requests, group, id);
  }
}
process.exit(0);
