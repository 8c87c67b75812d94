package readings

import (
	"math"

	"capcli/profile"
)

// rule says what a program's figure is.
type rule struct {
	name    string
	scale   float64
	counter bool // it only grows: the rate counts
	inverse bool // its inverse counts
	share   bool // a value of 1.5 or less is a share, not percent
	rank    int  // of two figures of one source for one name, the one with the lower rank counts
}

// rules are the figures by their name, as normalise writes it. Sources of the names: PyTorch Lightning, Hugging Face
// Transformers (Trainer), MosaicML Composer (SpeedMonitor), Megatron-LM, torchtitan, NeMo, nanotron, vLLM, SGLang and
// Text Generation Inference.
var rules = func() map[string]rule {
	out := map[string]rule{}
	add := func(r rule, names ...string) {
		for _, n := range names {
			out[n] = r
		}
	}
	add(rule{name: profile.ToldTokens, scale: 1, rank: 1}, "tokens_per_s", "tokens_s", "tok_s", "toks_s", "tok_per_s", "train_tokens_per_s", "throughput_tokens_per_s", "global_tokens_per_s", "generation_tokens_per_s")
	add(rule{name: profile.ToldGPUTokens, scale: 1, rank: 1}, "tokens_per_s_per_gpu", "tokens_per_s_per_device", "tokens_per_gpu_per_s", "tokens_per_gpu_s", "throughput_device_tokens_per_s", "throughput_tps", "tokens_s_gpu")
	add(rule{name: profile.ToldSamples, scale: 1, rank: 1}, "samples_per_s", "samples_s", "images_per_s", "images_s", "imgs_s", "examples_per_s", "sequences_per_s", "train_samples_per_s", "throughput_samples_per_s", "requests_per_s")
	add(rule{name: profile.ToldGPUSamples, scale: 1, rank: 1}, "samples_per_s_per_gpu", "samples_per_gpu_s", "throughput_device_samples_per_s")
	add(rule{name: profile.ToldMFU, scale: 1, share: true}, "mfu", "mfu_pct", "mfu_percent", "throughput_device_mfu", "throughput_mfu", "model_flops_utilization")
	add(rule{name: profile.ToldTFLOPS, scale: 1}, "tflops_per_gpu", "throughput_per_gpu_tflop_s_gpu", "tflops_s_gpu", "throughput_device_tflops")
	add(rule{name: profile.ToldStep, scale: 1}, "step_s", "step_time", "step_time_s", "s_per_step", "s_per_it", "iteration_time", "iter_time", "iter_time_s", "time_per_step", "train_step_timing_in_s")
	add(rule{name: profile.ToldStep, scale: 1e-3}, "step_ms", "step_time_ms", "iter_time_ms", "iteration_time_ms", "elapsed_time_per_iteration_ms")
	add(rule{name: profile.ToldStep, scale: 1, inverse: true, rank: 1}, "steps_per_s", "it_s", "its_per_s", "iterations_per_s", "train_steps_per_s", "throughput_batches_per_s")
	add(rule{name: profile.ToldStep, scale: 1, inverse: true, counter: true, rank: 2}, "step", "steps", "steps_total", "global_step", "iteration", "iterations_total", "train_steps_total")
	add(rule{name: profile.ToldTokens, scale: 1, counter: true}, "tokens_total", "total_tokens", "tokens_seen", "num_tokens_seen", "num_input_tokens_seen", "consumed_tokens", "consumed_train_tokens", "train_tokens_total")
	add(rule{name: profile.ToldSamples, scale: 1, counter: true}, "samples_total", "total_samples", "samples_seen", "consumed_samples", "consumed_train_samples", "train_samples_total", "images_total")
	add(rule{name: profile.ToldTokens, scale: 1, counter: true}, "vllm_generation_tokens_total", "vllm_generation_tokens", "sglang_generation_tokens_total", "tgi_request_generated_tokens_sum")
	add(rule{name: profile.ToldPromptsTokens, scale: 1, counter: true}, "vllm_prompt_tokens_total", "vllm_prompt_tokens", "sglang_prompt_tokens_total", "tgi_request_input_length_sum")
	return out
}()

// mostName is the most bytes of a name.
const mostName = 96

// normalise appends a name in lower case, with other signs than letters and digits as one underscore, and with
// "second" and "sec" as "s".
func normalise(to []byte, name []byte) []byte {
	if len(name) > mostName {
		return to[:0]
	}
	to = to[:0]
	word := 0 // where the last word begins
	for i := 0; i <= len(name); i++ {
		c := byte('_')
		if i < len(name) {
			c = name[i]
		}
		switch {
		case c >= 'A' && c <= 'Z':
			to = append(to, c+'a'-'A')
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
			to = append(to, c)
		case len(to) > word:
			switch string(to[word:]) {
			case "sec", "second", "seconds":
				to = append(to[:word], 's')
			}
			to = append(to, '_')
			word = len(to)
		}
	}
	if n := len(to); n > 0 && to[n-1] == '_' {
		to = to[:n-1]
	}
	return to
}

// value applies the rule to a figure that is no counter. ok is false where the result is no figure.
func (r *rule) value(v float64) (out float64, ok bool) {
	out = v * r.scale
	if r.share && v <= 1.5 {
		out *= 100
	}
	if r.inverse {
		out = 1 / out
	}
	return out, isFigure(out)
}

// rate applies the rule to the growth of a counter over some seconds.
func (r *rule) rate(growth, seconds float64) (out float64, ok bool) {
	out = growth * r.scale / seconds
	if r.inverse {
		out = 1 / out
	}
	return out, isFigure(out)
}

// isFigure reports whether v can be a figure that a program tells.
func isFigure(v float64) bool { return v >= 0 && v <= 1e15 && !math.IsNaN(v) }
