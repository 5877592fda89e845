import { env, pipeline, TextStreamer } from '@huggingface/transformers';

// The model is a folder of `agent-rl model export`, relative to the served folder: ?model=my-model-onnx.
const model = new URLSearchParams(location.search).get('model');
env.allowRemoteModels = false;
env.allowLocalModels = true;
env.localModelPath = '/';
env.backends.onnx.wasm.wasmPaths = '/node_modules/onnxruntime-web/dist/';

const state = document.querySelector('#state');
const list = document.querySelector('#messages');
const form = document.querySelector('#ask');
const text = document.querySelector('#text');
const button = form.querySelector('button');
const messages = [];

const allow = (allowed) => {
  text.disabled = !allowed;
  button.disabled = !allowed;
  if (allowed) text.focus();
};

/** A model's output is shown as text, never as markup. */
function show(who) {
  const item = document.createElement('li');
  const name = document.createElement('b');
  const said = document.createElement('span');
  name.textContent = who;
  item.append(name, said);
  list.append(item);
  return said;
}

async function start() {
  if (model === null)
    throw new Error('Name a model: ?model=FOLDER, relative to the served folder.');
  const generate = await pipeline('text-generation', model, { dtype: 'fp32', device: 'wasm' });
  state.textContent = `${model} is loaded.`;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (text.value.trim() === '' || text.disabled) return;
    messages.push({ role: 'user', content: text.value });
    show('You').textContent = text.value;
    text.value = '';
    allow(false);
    try {
      const said = show('Model');
      const streamer = new TextStreamer(generate.tokenizer, {
        skip_prompt: true,
        skip_special_tokens: true,
        callback_function: (piece) => said.append(piece),
      });
      const options = { max_new_tokens: 256, do_sample: false, streamer };
      const [{ generated_text: whole }] = await generate(messages, options);
      messages.push(whole.at(-1));
    } catch (problem) {
      state.textContent = `Failed: ${problem.message}`;
    }
    allow(true);
  });
  allow(true);
}

start().catch((problem) => {
  state.textContent = problem.message;
});
