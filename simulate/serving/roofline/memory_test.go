package roofline

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"capcli"
)

func TestMemoryGolden(t *testing.T) {
	var golden struct {
		Models map[string]Model
		GPUs   map[string]int64 `json:"gpu_bytes"`
		Cases  []struct {
			GPU, Model   string
			TP           int64 `json:"tp"`
			WeightBits   int64 `json:"weight_bits"`
			CacheBits    int64 `json:"kv_bits"`
			UtilPermille int64 `json:"util_permille"`
			Reserve      int64 `json:"reserve_bytes"`
			BlockSize    int64 `json:"block_size"`
			Memory
		}
	}
	if err := json.NewDecoder(open(t, "golden/inference/memory.json")).Decode(&golden); err != nil {
		t.Fatal(err)
	}
	for name, want := range golden.Models {
		got, err := Models.Get(name)
		if err != nil {
			t.Error(err)
		}
		want.Name, want.Source = name, got.Source
		want.Hidden, want.Intermediate, want.Vocabulary = got.Hidden, got.Intermediate, got.Vocabulary
		if got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	for _, c := range golden.Cases {
		g, err := GPUs.Get(c.GPU)
		if err != nil || g.Bytes != golden.GPUs[c.GPU] {
			t.Errorf("%s: %d bytes, want %d", c.GPU, g.Bytes, golden.GPUs[c.GPU])
		}
		d := Demand{golden.Models[c.Model], c.TP, c.WeightBits, c.CacheBits, golden.GPUs[c.GPU], c.UtilPermille, c.Reserve, c.BlockSize}
		if got := d.Memory(); got != c.Memory {
			t.Errorf("%s %s tp %d, %d and %d bits: got %+v, want %+v", c.GPU, c.Model, c.TP, c.WeightBits, c.CacheBits, got, c.Memory)
		}
	}
	if len(golden.Cases) != 320 {
		t.Errorf("%d cases, want 320", len(golden.Cases))
	}
}

// TestParameters counts the parameters of each known model from its widths.
func TestParameters(t *testing.T) {
	for _, e := range Models.All() {
		m := e.Value
		q, kv := m.Heads*m.HeadDim, 2*m.KVHeads*m.HeadDim
		layer := (q+kv)*m.Hidden + q*m.Hidden + 3*m.Hidden*m.Intermediate + 2*m.Hidden
		embeddings := int64(2)
		switch {
		case strings.HasPrefix(m.Name, "qwen2.5"):
			layer += q + kv // biases
		case strings.HasPrefix(m.Name, "qwen3"):
			layer += 2 * m.HeadDim // norms of queries and keys
		case strings.HasPrefix(m.Name, "llama-3.2"):
			embeddings = 1 // shared with the output
		}
		vocabulary := m.Vocabulary
		if m.Name == "codellama-34b" {
			vocabulary = 32000
		}
		if got := m.Layers*layer + embeddings*vocabulary*m.Hidden + m.Hidden; got != m.Parameters {
			t.Errorf("%s: %d parameters by its widths, %d in the catalogue", m.Name, got, m.Parameters)
		}
	}
}

func TestMisfit(t *testing.T) {
	m, err := FindModel("llama-3.1-70b")
	if err != nil {
		t.Fatal(err)
	}
	d := Demand{m, 1, 16, 16, 80 << 30, 900, 7 << 29, 16}
	err = d.Check()
	var wrong *capcli.RequestError
	if !errors.As(err, &wrong) {
		t.Fatalf("got %v, want a request error", err)
	}
	for _, want := range []string{"take 131.4 GiB a GPU", "72.0 GiB of 80.0 GiB may be used", "62.9 GiB are missing"} {
		if !strings.Contains(wrong.Text, want) {
			t.Errorf("%q does not say %q", wrong.Text, want)
		}
	}
	if want := "it fits with tensor_parallel: 2, or with weights of 8 bits, or with a smaller reserve"; !strings.HasPrefix(want, wrong.Hint) {
		t.Errorf("hint %q, want %q", wrong.Hint, want)
	}
	// What the hint says does fit.
	d.GPUs = 2
	if err := d.Check(); err != nil {
		t.Error(err)
	}
	d.GPUs, d.GPUBytes = 1, 24<<30
	if err := d.Check(); !errors.As(err, &wrong) || wrong.Hint != "it fits with tensor_parallel: 8" {
		t.Errorf("24 GiB: %v", err)
	}
}
