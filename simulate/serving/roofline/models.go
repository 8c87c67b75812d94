package roofline

import (
	"fmt"
	"strings"

	"capcli"
)

// Model is the shape of a dense model: a decoder of equal layers, each of attention with grouped heads and
// a gated feed-forward network.
type Model struct {
	Name         string `json:"name,omitempty"`
	Parameters   int64  `json:"parameters"`
	Layers       int64  `json:"layers"`
	Heads        int64  `json:"heads"`
	KVHeads      int64  `json:"kv_heads"`
	HeadDim      int64  `json:"head_dim"`
	Hidden       int64  `json:"hidden,omitempty"`
	Intermediate int64  `json:"intermediate,omitempty"`
	Vocabulary   int64  `json:"vocabulary,omitempty"`
	Source       string `json:"source,omitempty"` // of the numbers
}

// Check returns a *capcli.RequestError for numbers that no model has.
func (m *Model) Check() error {
	for _, f := range []struct {
		name string
		v    int64
		most int64
	}{
		{"parameters", m.Parameters, 1e14},
		{"layers", m.Layers, 10_000},
		{"heads", m.Heads, 10_000},
		{"kv_heads", m.KVHeads, 10_000},
		{"head_dim", m.HeadDim, 10_000},
	} {
		if f.v < 1 || f.v > f.most {
			return &capcli.RequestError{Field: f.name, Text: fmt.Sprintf("wants 1 to %d, found %d", f.most, f.v), Hint: modelHint}
		}
	}
	if m.KVHeads > m.Heads || m.Heads%m.KVHeads != 0 {
		return &capcli.RequestError{Field: "kv_heads", Text: fmt.Sprintf("wants a divisor of the %d heads, found %d", m.Heads, m.KVHeads), Hint: modelHint}
	}
	return nil
}

// checkWidths returns a *capcli.RequestError if the widths that a time needs are missing.
func (m *Model) checkWidths() error {
	for _, f := range []struct {
		name string
		v    int64
	}{{"hidden", m.Hidden}, {"intermediate", m.Intermediate}, {"vocabulary", m.Vocabulary}} {
		if f.v < 1 || f.v > 1e7 {
			return &capcli.RequestError{Field: f.name, Text: fmt.Sprintf("wants 1 to 10000000, found %d: the time of an iteration needs it", f.v), Hint: modelHint}
		}
	}
	return nil
}

const modelHint = "the numbers are in the model's config.json: num_hidden_layers, num_attention_heads, num_key_value_heads, head_dim, hidden_size, intermediate_size, vocab_size"

// Models are the known models.
var Models = capcli.Catalog[Model]{Kind: "model"}

// FindModel returns the model called name, or the end of a path such as meta-llama/Llama-3.1-8B-Instruct.
func FindModel(name string) (Model, error) {
	short := strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	for _, end := range []string{"", "-instruct", "-chat", "-it", "-base", "-hf", "-chat-hf", "-fp8", "-instruct-fp8"} {
		if m, err := Models.Get(strings.TrimSuffix(short, end)); err == nil {
			return m, nil
		}
	}
	_, err := Models.Get(name)
	return Model{}, err
}

func init() {
	const hugging = "config.json of "
	for _, m := range []Model{
		{"llama-2-7b", 6738415616, 32, 32, 32, 128, 4096, 11008, 32000, hugging + "meta-llama/Llama-2-7b-hf; Touvron et al. 2023, arXiv 2307.09288"},
		{"llama-2-13b", 13015864320, 40, 40, 40, 128, 5120, 13824, 32000, hugging + "meta-llama/Llama-2-13b-hf; arXiv 2307.09288"},
		{"llama-2-70b", 68976648192, 80, 64, 8, 128, 8192, 28672, 32000, hugging + "meta-llama/Llama-2-70b-hf; arXiv 2307.09288"},
		{"codellama-34b", 33743970304, 48, 64, 8, 128, 8192, 22016, 32000, hugging + "codellama/CodeLlama-34b-hf; Rozière et al. 2023, arXiv 2308.12950"},
		{"llama-3-8b", 8030261248, 32, 32, 8, 128, 4096, 14336, 128256, hugging + "meta-llama/Meta-Llama-3-8B; Grattafiori et al. 2024, arXiv 2407.21783"},
		{"llama-3-70b", 70553706496, 80, 64, 8, 128, 8192, 28672, 128256, hugging + "meta-llama/Meta-Llama-3-70B; arXiv 2407.21783"},
		{"llama-3.1-8b", 8030261248, 32, 32, 8, 128, 4096, 14336, 128256, hugging + "meta-llama/Llama-3.1-8B; arXiv 2407.21783, table 3"},
		{"llama-3.1-70b", 70553706496, 80, 64, 8, 128, 8192, 28672, 128256, hugging + "meta-llama/Llama-3.1-70B; arXiv 2407.21783, table 3"},
		{"llama-3.1-405b", 405853388800, 126, 128, 8, 128, 16384, 53248, 128256, hugging + "meta-llama/Llama-3.1-405B; arXiv 2407.21783, table 3"},
		{"llama-3.2-1b", 1235814400, 16, 32, 8, 64, 2048, 8192, 128256, hugging + "meta-llama/Llama-3.2-1B"},
		{"llama-3.2-3b", 3212749824, 28, 24, 8, 128, 3072, 8192, 128256, hugging + "meta-llama/Llama-3.2-3B"},
		{"llama-3.3-70b", 70553706496, 80, 64, 8, 128, 8192, 28672, 128256, hugging + "meta-llama/Llama-3.3-70B-Instruct"},
		{"mistral-7b", 7241732096, 32, 32, 8, 128, 4096, 14336, 32000, hugging + "mistralai/Mistral-7B-v0.1; Jiang et al. 2023, arXiv 2310.06825"},
		{"mistral-nemo-12b", 12247782400, 40, 32, 8, 128, 5120, 14336, 131072, hugging + "mistralai/Mistral-Nemo-Base-2407"},
		{"mistral-small-24b", 23572403200, 40, 32, 8, 128, 5120, 32768, 131072, hugging + "mistralai/Mistral-Small-24B-Base-2501"},
		{"qwen2.5-7b", 7615616512, 28, 28, 4, 128, 3584, 18944, 152064, hugging + "Qwen/Qwen2.5-7B; Yang et al. 2024, arXiv 2412.15115"},
		{"qwen2.5-14b", 14770033664, 48, 40, 8, 128, 5120, 13824, 152064, hugging + "Qwen/Qwen2.5-14B; arXiv 2412.15115"},
		{"qwen2.5-32b", 32763876352, 64, 40, 8, 128, 5120, 27648, 152064, hugging + "Qwen/Qwen2.5-32B; arXiv 2412.15115"},
		{"qwen2.5-72b", 72706203648, 80, 64, 8, 128, 8192, 29568, 152064, hugging + "Qwen/Qwen2.5-72B; arXiv 2412.15115"},
		{"qwen3-8b", 8190735360, 36, 32, 8, 128, 4096, 12288, 151936, hugging + "Qwen/Qwen3-8B; Yang et al. 2025, arXiv 2505.09388"},
		{"qwen3-14b", 14768307200, 40, 40, 8, 128, 5120, 17408, 151936, hugging + "Qwen/Qwen3-14B; arXiv 2505.09388"},
		{"qwen3-32b", 32762123264, 64, 64, 8, 128, 5120, 25600, 151936, hugging + "Qwen/Qwen3-32B; arXiv 2505.09388"},
		{"phi-4", 14659507200, 40, 40, 10, 128, 5120, 17920, 100352, hugging + "microsoft/phi-4; Abdin et al. 2024, arXiv 2412.08905"},
		{"yi-34b", 34388917248, 60, 56, 8, 128, 7168, 20480, 64000, hugging + "01-ai/Yi-34B; arXiv 2403.04652"},
	} {
		Models.Add(m.Name, fmt.Sprintf("%.1f billion parameters, %d layers, %d heads, %d of them for keys and values", float64(m.Parameters)/1e9, m.Layers, m.Heads, m.KVHeads), m)
	}
}
