"use strict";

const $ = (id) => document.getElementById(id);
const METHODS = { "tensorflow/serving/predict": "predict", "tensorflow/serving/classify": "classify", "tensorflow/serving/regress": "regress" };
const KEPT = 120;

let state = null;
let chosen = null;
let shown = "";
let before = null;
const rates = [], halves = [], most = [];

function element(tag, text, attributes = {}) {
  const made = document.createElement(tag);
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  return made;
}

function row(...cells) {
  const made = element("tr");
  for (const cell of cells) made.append(cell instanceof Node ? cell : element("td", cell));
  return made;
}

const model = () => state.models.find((m) => m.name === chosen);
const serving = () => model().versions.filter((v) => v.state === "AVAILABLE");

function shape(tensor) {
  return tensor.shape === null ? "of any shape" : "[" + tensor.shape.map((d) => (d < 0 ? "?" : d)).join(", ") + "]";
}

// A value of a tensor's type and shape; unknown sizes are 1.
function sample(tensor, rows) {
  const leaf = tensor.type === "string" ? "text" : tensor.type === "bool" ? true : tensor.type.startsWith("float") ? 1.5 : 1;
  let value = leaf;
  const sizes = (tensor.shape || [1]).slice(rows ? 1 : 0).map((d) => (d < 0 ? 1 : d));
  if (sizes.reduce((a, b) => a * b, 1) > 2000) return "…";
  for (const size of sizes.reverse()) value = Array.from({ length: size }, () => value);
  return value;
}

function example(signature) {
  const request = {};
  if ($("signature").value !== "serving_default") request.signature_name = $("signature").value;
  if (METHODS[signature.method] !== "predict") {
    request.examples = [{ feature: 1.5 }];
  } else {
    const inputs = Object.entries(signature.inputs);
    const batched = inputs.every(([, t]) => t.shape === null || (t.shape.length && t.shape[0] < 0));
    const value = inputs.length === 1 ? sample(inputs[0][1], batched) : Object.fromEntries(inputs.map(([n, t]) => [n, sample(t, batched)]));
    request[batched ? "instances" : "inputs"] = batched ? [value] : value;
  }
  return JSON.stringify(request, null, 1).replace(/\n\s*(?=[\d\]\-.t"])/g, " ");
}

function current() {
  const version = serving().find((v) => v.version === $("version").value) || serving()[0];
  return version && version.signatures[$("signature").value];
}

function address() {
  const signature = current();
  const version = $("version").value;
  const method = (signature && METHODS[signature.method]) || "predict";
  return `/v1/models/${encodeURIComponent(chosen)}${version ? "/versions/" + version : ""}:${method}`;
}

const quoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";

function clients() {
  const signature = current();
  if (!signature) return;
  $("curl").textContent = `curl -d ${quoted($("body").value.replace(/\s+/g, " "))} \\\n  ${location.origin}${address()}`;
  const method = METHODS[signature.method] || "predict";
  const version = $("version").value ? `\nrequest.model_spec.version.value = ${$("version").value}` : "";
  const kinds = { predict: ["predict_pb2.PredictRequest", "Predict", "predict_pb2"], classify: ["classification_pb2.ClassificationRequest", "Classify", "classification_pb2"], regress: ["regression_pb2.RegressionRequest", "Regress", "regression_pb2"] };
  const [type, call, module] = kinds[method];
  const fill = method === "predict"
    ? Object.entries(signature.inputs).map(([name, t]) => `request.inputs[${JSON.stringify(name)}].CopyFrom(tf.make_tensor_proto(${JSON.stringify(sample(t)).replaceAll("true", "True")}, tf.${t.type || "float32"}))`).join("\n")
    : `request.input.example_list.examples.add().features.feature["feature"].float_list.value.append(1.5)`;
  $("python").textContent = `import grpc
import tensorflow as tf
from tensorflow_serving.apis import ${module}, prediction_service_pb2_grpc

channel = grpc.insecure_channel("${location.hostname}:${state.grpc_port}")
stub = prediction_service_pb2_grpc.PredictionServiceStub(channel)
request = ${type}()
request.model_spec.name = ${JSON.stringify(chosen)}
request.model_spec.signature_name = ${JSON.stringify($("signature").value)}${version}
${fill}
print(stub.${call}(request, timeout=10))`;
}

function options(select, values, labels = values) {
  const kept = select.value;
  select.replaceChildren(...values.map((v, i) => element("option", labels[i], { value: v })));
  if (values.includes(kept)) select.value = kept;
}

function showModel() {
  const told = model();
  $("model").hidden = !told;
  if (!told) return;
  const text = JSON.stringify(told);
  if (text === shown) return;
  const fresh = !shown.includes(`"name":${JSON.stringify(told.name)}`);
  shown = text;
  $("name").textContent = told.name;
  $("path").textContent = `${told.base_path} (${told.platform})`;
  $("versions").replaceChildren(...told.versions.map((v) => row(v.version, element("td", v.state, { class: v.error ? "failed" : v.state }), v.labels.join(", "), v.error)));
  const available = serving();
  options($("version"), ["", ...available.map((v) => v.version)], ["latest", ...available.map((v) => v.version)]);
  const signatures = available.length ? available[0].signatures : {};
  options($("signature"), Object.keys(signatures));
  if (fresh && signatures.serving_default) $("signature").value = "serving_default";
  $("signatures").replaceChildren(...Object.entries(signatures).map(([name, s]) => {
    const table = element("table");
    table.append(element("caption"));
    table.caption.append(element("code", name), ` ${METHODS[s.method] || s.method}`);
    for (const [kind, tensors] of [["in", s.inputs], ["out", s.outputs]]) {
      for (const [alias, t] of Object.entries(tensors)) table.append(row(kind, element("td", alias), `${t.type} ${shape(t)}`, element("td", t.tensor, { class: "error" })));
    }
    return table;
  }));
  if (fresh) renew();
  clients();
}

function renew() {
  const signature = current();
  if (signature) $("body").value = example(signature);
  clients();
}

function plot(svg, ...lines) {
  const top = Math.max(...lines.flat(), 1e-9);
  svg.replaceChildren(...lines.map((values, i) => {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
    line.setAttribute("points", values.map((v, x) => `${(x * 300) / (KEPT - 1)},${86 - (82 * v) / top}`).join(" "));
    if (i) line.setAttribute("class", "second");
    return line;
  }));
}

function total(told) {
  const sums = new Array(told.limits.length + 1).fill(0);
  for (const [, counts] of told.counts) counts.forEach((c, i) => { sums[i] += c; });
  return sums;
}

// Within a bucket, requests are taken to be spread evenly.
function quantile(counts, limits, part) {
  const all = counts.reduce((a, b) => a + b, 0);
  let left = all * part;
  for (let i = 0; i < counts.length; i++) {
    const low = i ? limits[i - 1] : 0, high = i < limits.length ? limits[i] : 2 * limits[limits.length - 1];
    if (counts[i] && left <= counts[i]) return (low + ((high - low) * left) / counts[i]) / 1000;
    left -= counts[i];
  }
  return 0;
}

function showSpeed(now) {
  const counts = total(state.latency);
  if (before) {
    const news = counts.map((c, i) => Math.max(0, c - before.counts[i]));
    rates.push((news.reduce((a, b) => a + b, 0) * 1000) / (now - before.now));
    halves.push(quantile(news, state.latency.limits, 0.5));
    most.push(quantile(news, state.latency.limits, 0.99));
    for (const values of [rates, halves, most]) if (values.length > KEPT) values.shift();
    $("rate").textContent = rates.at(-1).toFixed(1);
    $("latency").textContent = halves.at(-1) ? `${halves.at(-1).toFixed(2)} and ${most.at(-1).toFixed(2)} ms` : "–";
    plot($("rates"), rates);
    plot($("latencies"), halves, most);
  }
  before = { now, counts };
  $("counts").replaceChildren(...state.requests.map(([[name, status], count]) => row(name, element("td", status, { class: status === "OK" ? "" : "failed" }), count)));
}

async function refresh() {
  try {
    state = await (await fetch("/console/state.json")).json();
    const available = state.models.filter((m) => m.versions.some((v) => v.state === "AVAILABLE")).length;
    $("summary").textContent = `${available} of ${state.models.length} models available · gRPC on port ${state.grpc_port}`;
    if (!state.models.some((m) => m.name === chosen)) chosen = state.models.length ? state.models[0].name : null;
    $("models").replaceChildren(...state.models.map((m) => {
      const item = element("li"), button = element("button", m.name, { "aria-current": m.name === chosen });
      button.onclick = () => { chosen = m.name; shown = ""; refresh(); };
      item.append(button);
      return item;
    }));
    showModel();
    showSpeed(performance.now());
  } catch (error) {
    $("summary").textContent = "The server does not answer.";
  }
}

$("request").onsubmit = async (event) => {
  event.preventDefault();
  const start = performance.now();
  $("time").textContent = "…";
  try {
    const answer = await fetch(address(), { method: "POST", body: $("body").value });
    $("answer").textContent = await answer.text();
    $("answer").className = answer.ok ? "" : "failed";
    $("time").textContent = `${answer.status}, ${(performance.now() - start).toFixed(1)} ms`;
  } catch (error) {
    $("time").textContent = "The server does not answer.";
  }
};
$("signature").onchange = $("version").onchange = renew;
$("body").oninput = clients;
refresh();
setInterval(refresh, 1000);
