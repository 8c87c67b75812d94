package roofline

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"capcli"
)

// Question asks in words for the time and the memory of a model.
type Question struct {
	Model       string // a known model; "" lists them
	Own         *Model // numbers of a model that is not known; nil asks for Model
	GPU         string
	GPUs        int64
	Weights     string // words of Precisions
	Cache       string
	Utilisation float64 // share of the memory of a GPU that may be used
	ReserveGiB  float64 // of each GPU
	BlockSize   int64   // tokens
	Length      int64   // of a sequence, whose number at once is asked for; 0 is usual lengths
	Quantised   float64 // stated factor on the time; 0 is none
}

// DefaultQuestion is a Question with the values of Defaults.
func DefaultQuestion() Question {
	return Question{GPUs: Defaults.GPUs, Weights: Defaults.Weights, Cache: Defaults.Cache, Utilisation: 0.9, ReserveGiB: 3.5, BlockSize: Defaults.BlockSize}
}

// Request returns the request of the question. The error is a *capcli.RequestError or a *capcli.UnknownError.
func (q *Question) Request() (*Request, error) {
	r := Defaults
	var err error
	if q.Own != nil {
		r.Model = *q.Own
	} else if r.Model, err = FindModel(q.Model); err != nil {
		return nil, err
	}
	if q.GPU == "" {
		return nil, &capcli.RequestError{Field: "gpu", Text: "wants the kind of GPU: " + strings.Join(GPUs.Names(), ", "), Hint: "for example gpu=H100"}
	}
	if r.GPU, err = FindGPU(q.GPU); err != nil {
		return nil, err
	}
	if !(q.Utilisation >= 0.01 && q.Utilisation <= 1) {
		return nil, &capcli.RequestError{Field: "utilisation", Text: fmt.Sprintf("wants a share of 0.01 to 1, found %v", q.Utilisation)}
	}
	if !(q.ReserveGiB >= 0 && q.ReserveGiB <= 1000) {
		return nil, &capcli.RequestError{Field: "reserve", Text: fmt.Sprintf("wants 0 to 1000 GiB, found %v", q.ReserveGiB)}
	}
	if q.Length < 0 || q.Length > 1e9 {
		return nil, &capcli.RequestError{Field: "length", Text: fmt.Sprintf("wants 1 to 1000000000 tokens, found %d", q.Length)}
	}
	r.GPUs, r.Weights, r.Cache, r.BlockSize = q.GPUs, q.Weights, q.Cache, q.BlockSize
	r.Permille, r.Reserve = int64(math.Round(q.Utilisation*1000)), int64(math.Round(q.ReserveGiB*(1<<30)))
	r.Factors.Quantised, r.MemoryToo = q.Quantised, true
	if q.Length > 0 {
		r.Lengths = []int64{q.Length}
	}
	return &r, nil
}

// ModelList is the document of the known models and GPUs.
type ModelList struct {
	Schema string  `json:"schema"`
	Models []Model `json:"models"`
	GPUs   []GPU   `json:"gpus"`
}

// List returns the known models and GPUs.
func List() *ModelList {
	l := &ModelList{Schema: "capcli/service_models/v1"}
	for _, e := range Models.All() {
		l.Models = append(l.Models, e.Value)
	}
	for _, e := range GPUs.All() {
		l.GPUs = append(l.GPUs, e.Value)
	}
	return l
}

// maxConfig is the largest size of a config.json.
const maxConfig = 1 << 20

// ReadConfig reads the numbers of a model from its config.json, as Hugging Face's transformers write it. The
// parameters are counted from the widths: embeddings and output, unless they are tied, layers and norms, without
// biases, which are below a thousandth.
func ReadConfig(file string, r io.Reader) (*Model, error) {
	fault := func(field, format string, args ...any) error {
		return &capcli.InputError{File: file, Field: field, Text: fmt.Sprintf(format, args...)}
	}
	b, err := io.ReadAll(io.LimitReader(r, maxConfig+1))
	if err != nil {
		return nil, err
	}
	if len(b) > maxConfig {
		return nil, fault("", "more than %d bytes", maxConfig)
	}
	var c struct {
		Layers       int64   `json:"num_hidden_layers"`
		Heads        int64   `json:"num_attention_heads"`
		KVHeads      int64   `json:"num_key_value_heads"`
		HeadDim      int64   `json:"head_dim"`
		Hidden       int64   `json:"hidden_size"`
		Intermediate int64   `json:"intermediate_size"`
		Vocabulary   int64   `json:"vocab_size"`
		Tied         bool    `json:"tie_word_embeddings"`
		Name         string  `json:"_name_or_path"`
		Experts      float64 `json:"num_experts"`
		LocalExperts float64 `json:"num_local_experts"`
		Routed       float64 `json:"n_routed_experts"`
	}
	if err := json.Unmarshal(b, &c); err != nil {
		return nil, fault("", "not the JSON of a config.json: %v", err)
	}
	if c.Experts+c.LocalExperts+c.Routed > 1 {
		return nil, fault("num_experts", "a mixture of experts; only dense models have a time from measurements. State time: and blocks:")
	}
	if c.KVHeads == 0 {
		c.KVHeads = c.Heads
	}
	if c.HeadDim == 0 && c.Heads > 0 {
		c.HeadDim = c.Hidden / c.Heads
	}
	m := &Model{Name: c.Name, Layers: c.Layers, Heads: c.Heads, KVHeads: c.KVHeads, HeadDim: c.HeadDim, Hidden: c.Hidden, Intermediate: c.Intermediate, Vocabulary: c.Vocabulary, Source: file}
	m.Parameters = 1
	if err := m.Check(); err != nil {
		return nil, fault("", "%v", err)
	}
	if err := m.checkWidths(); err != nil {
		return nil, fault("", "%v", err)
	}
	q, kv := m.Heads*m.HeadDim, 2*m.KVHeads*m.HeadDim
	embeddings := int64(2)
	if c.Tied {
		embeddings = 1
	}
	total := float64(m.Layers)*(float64(2*q+kv)*float64(m.Hidden)+3*float64(m.Hidden)*float64(m.Intermediate)+2*float64(m.Hidden)) + float64(embeddings*m.Vocabulary+1)*float64(m.Hidden)
	if total > 1e14 {
		return nil, fault("", "more than 10^14 parameters")
	}
	m.Parameters = int64(total)
	return m, nil
}

// Estimate answers the question. Its errors name the fields of a Question.
func (q *Question) Estimate() (*Estimate, error) {
	r, err := q.Request()
	if err != nil {
		return nil, err
	}
	e, err := r.Estimate()
	return e, q.rename(err)
}

// rename names fields of a service by those of a Question.
func (q *Question) rename(err error) error {
	var wrong *capcli.RequestError
	if !errors.As(err, &wrong) {
		return err
	}
	renamed := *wrong
	if wrong.Field == "tensor_parallel" {
		renamed.Field = "tp"
	}
	renamed.Hint = strings.ReplaceAll(strings.ReplaceAll(wrong.Hint, "tensor_parallel: ", "tp="), "weights of 8 bits", "weights=fp8")
	renamed.Hint = strings.ReplaceAll(renamed.Hint, "weights of 4 bits", "weights=4bit")
	return &renamed
}
