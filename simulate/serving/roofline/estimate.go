package roofline

import (
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"capcli"
	"capcli/simulate/serving"
)

// Request asks for the time and the memory of a model on GPUs.
type Request struct {
	Model      Model
	GPU        GPU
	GPUs       int64  // tensor parallel
	Weights    string // a word of Precisions
	Cache      string // a word of Precisions, for the KV cache
	Permille   int64  // of the memory that may be used
	Reserve    int64  // bytes of a GPU
	BlockSize  int64  // tokens
	Factors    Factors
	Calibrated Calibration
	Timeless   bool    // only the memory is wanted
	MemoryToo  bool    // the memory is an answer where the time is not known
	Lengths    []int64 // of sequences, whose number at once is wanted; nil is usual lengths
}

// Defaults are those of a Request: weights and cache of 16 bits, 90% of the memory, 3.5 GiB in reserve, blocks of 16
// tokens.
var Defaults = Request{GPUs: 1, Weights: "bf16", Cache: "bf16", Permille: 900, Reserve: 7 << 29, BlockSize: 16}

// Factors are what the user states that his software does to the time of iterations; 0 is nothing. They
// are inputs, never guessed.
type Factors struct {
	Quantised        float64 `json:"quantised,omitempty"`          // factor on the time, beside that of measured weights
	Compiled         float64 `json:"compiled,omitempty"`           // factor on the time
	Speculative      float64 `json:"speculative,omitempty"`        // factor on the time of a step of decoding
	SpeculativeGains float64 `json:"speculative_tokens,omitempty"` // mean tokens that a step of decoding makes
}

// precision is a type of numbers: its bits, and the name that tables of operations give it.
type precision struct {
	bits int64
	name string // "" is not measured
}

var precisions = map[string]precision{
	"bf16": {16, "bfloat16"}, "bfloat16": {16, "bfloat16"}, "fp16": {16, "bfloat16"}, "float16": {16, "bfloat16"}, "16bit": {16, "bfloat16"}, "16": {16, "bfloat16"},
	"fp8": {8, "fp8"}, "8bit": {8, "fp8"}, "int8": {8, "fp8"}, "8": {8, "fp8"},
	"fp4": {4, ""}, "nvfp4": {4, ""}, "int4": {4, ""}, "4bit": {4, ""}, "4": {4, ""},
}

// Precisions are the words for the precision of weights and of the KV cache.
func Precisions() []string {
	return []string{"bf16", "bfloat16", "fp16", "float16", "16bit", "16", "fp8", "int8", "8bit", "8", "fp4", "nvfp4", "int4", "4bit", "4"}
}

// Estimate is the time and memory of a model on GPUs.
type Estimate struct {
	Schema     string       `json:"schema"`
	Model      Model        `json:"model"`
	GPU        GPU          `json:"gpu"`
	GPUs       int64        `json:"tensor_parallel"`
	Weights    string       `json:"weights"`
	WeightBits int64        `json:"weight_bits"`
	CacheBits  int64        `json:"kv_bits"`
	Time       serving.Time `json:"time"`                   // picoseconds, as the field time of a service
	Missing    string       `json:"time_missing,omitempty"` // why there is no time; it is then 0
	Memory     Memory       `json:"memory"`
	BlockSize  int64        `json:"block_size"`
	Permille   int64        `json:"util_permille"`
	Reserve    int64        `json:"reserve_bytes"`
	Origin     Origin       `json:"origin"`
	Room       []Room       `json:"concurrency,omitempty"`
}

// Origin says where a time comes from, and how far it was off where it was measured.
type Origin struct {
	Source  string   `json:"source"`
	Decode  Accuracy `json:"decode_error"`
	Prefill Accuracy `json:"prefill_error"`
	Basis   string   `json:"error_basis"`             // what the errors are of
	Server  *Servers `json:"whole_servers,omitempty"` // how far whole servers with this GPU and weights were off; null where none was measured
	Stated  []string `json:"stated,omitempty"`
}

// Servers are measurements of whole servers under steady load, none of them used in the fit, against the time
// without a calibration.
type Servers struct {
	Accuracy
	Rows int `json:"rows"`
}

// Accuracy is the relative error of iterations that were not used in the fit.
type Accuracy struct {
	Mean capcli.Figure `json:"mean"`
	P90  capcli.Figure `json:"p90"`
}

// Room is how many sequences of a length the KV cache holds at once, and the time of an iteration that
// decodes as many.
type Room struct {
	Tokens    int64 `json:"tokens"` // of a sequence
	Sequences int64 `json:"sequences"`
	Micros    int64 `json:"decode_us,omitempty"` // 0 is not known
}

//go:embed measured.json
var measuredText []byte

// Measured is what is known of one kind of GPU: its operations, and the times of models that were fitted to
// the tables themselves.
type Measured struct {
	Operations *Description          `json:"operations"`
	Servers    map[string]Servers    `json:"servers,omitempty"` // by type of the weights
	Errors     map[string][4]float64 `json:"errors"`            // by type of the weights: mean and 90th percentile, decode and prefill, over models
	Times      map[string]Fitted     `json:"times"`             // by model/tpN/weights
}

// Fitted is a time and its errors.
type Fitted struct {
	Time   serving.Time `json:"time"`
	Errors [4]float64   `json:"errors"`
}

var measured = sync.OnceValue(func() map[string]*Measured {
	out := map[string]*Measured{}
	if err := json.Unmarshal(measuredText, &out); err != nil {
		panic(err) // the file is part of the program
	}
	return out
})

const source = "fitted to tables of operations of AIConfigurator (github.com/ai-dynamo/aiconfigurator, 095f58a, Apache-2.0; vLLM)"

// Estimate returns the time and memory. The error is a *capcli.RequestError, also where the model does not
// fit its GPUs.
func (r *Request) Estimate() (*Estimate, error) { return r.estimate(measured()) }

func (r *Request) estimate(all map[string]*Measured) (*Estimate, error) {
	weights, cache := precisions[r.Weights], precisions[r.Cache]
	for _, w := range []struct{ field, word string }{{"weights", r.Weights}, {"kv", r.Cache}} {
		if precisions[w.word].bits == 0 {
			return nil, &capcli.RequestError{Field: w.field, Text: fmt.Sprintf("wants one of %s, found %s", strings.Join(Precisions(), ", "), capcli.Quoted(w.word))}
		}
	}
	d := Demand{r.Model, r.GPUs, weights.bits, cache.bits, r.GPU.Bytes, r.Permille, r.Reserve, r.BlockSize}
	if err := d.Check(); err != nil {
		return nil, err
	}
	e := &Estimate{
		Schema: "capcli/service_model/v1", Model: r.Model, GPU: r.GPU, GPUs: r.GPUs, Weights: r.Weights, WeightBits: weights.bits, CacheBits: cache.bits,
		Memory: d.Memory(), BlockSize: r.BlockSize, Permille: r.Permille, Reserve: r.Reserve,
	}
	if r.Timeless {
		return e, nil
	}
	if err := r.timeOf(e, all[r.GPU.Name], weights, cache); err != nil {
		var unknown *capcli.RequestError
		if !r.MemoryToo || !errors.As(err, &unknown) {
			return nil, err
		}
		text := unknown.Error()
		if rest, ok := strings.CutPrefix(unknown.Text, ": "); ok {
			text = rest
		}
		e.Missing = text + "; " + unknown.Hint
		e.addRoom(r.Lengths)
		return e, nil
	}
	if err := r.Factors.apply(e); err != nil {
		return nil, err
	}
	if err := r.Calibrated.apply(e); err != nil {
		return nil, err
	}
	e.addRoom(r.Lengths)
	return e, nil
}

func (r *Request) timeOf(e *Estimate, known *Measured, weights, cache precision) error {
	if known == nil {
		return &capcli.RequestError{Field: "gpu_model", Text: fmt.Sprintf("has no measured operations for %s", capcli.Quoted(r.GPU.Name)), Hint: "state time: or time_table:, or use one of " + strings.Join(GPUs.Names(), ", ")}
	}
	if err := r.Model.checkWidths(); err != nil {
		return err
	}
	if r.Model.Heads%r.GPUs != 0 {
		return &capcli.RequestError{
			Field: "tensor_parallel", Text: fmt.Sprintf("wants a divisor of the %d heads for a time from measurements, found %d", r.Model.Heads, r.GPUs), Hint: "state time: or time_table:",
		}
	}
	if r.Model.HeadDim < 32 || r.Model.HeadDim > 512 {
		return &capcli.RequestError{Field: "head_dim", Text: fmt.Sprintf("wants 32 to 512 for a time from measurements, found %d", r.Model.HeadDim), Hint: "state time: or time_table:"}
	}
	name := weights.name
	if _, ok := known.Operations.Products[name]; !ok {
		if r.Factors.Quantised <= 0 {
			return &capcli.RequestError{
				Field: "weights", Text: fmt.Sprintf(": %s has no measurements of weights of %d bits", r.GPU.Name, weights.bits),
				Hint: "state what they bring, as in quantised: {time: 0.7}, the factor on the time with " + known.nearest() + " weights; or state time:",
			}
		}
		name = known.nearest()
	}
	l := Layout{Model: r.Model, GPUs: r.GPUs, Weights: name, Cache: cache.name}
	if _, ok := known.Operations.Decodes[l.Cache]; !ok {
		l.Cache = "bfloat16"
	}
	if l.GPUs > 1 {
		if _, ok := known.Operations.Reduces[l.GPUs]; !ok {
			return &capcli.RequestError{Field: "tensor_parallel", Text: fmt.Sprintf("wants 1, 2, 4 or 8, found %d: no all-reduce of as many GPUs was measured", l.GPUs), Hint: "state time: or time_table:"}
		}
	}
	e.Origin = Origin{Source: source, Basis: fmt.Sprintf("iterations of other models with %s weights on this GPU, at points not used in the fit", name)}
	off := known.Errors[name]
	if f, ok := known.Times[l.Key()]; ok && l.Cache == "bfloat16" && sameShape(r.Model) {
		e.Time, off = f.Time, f.Errors
		e.Time.Lin = slices.Clone(f.Time.Lin)
		e.Origin.Basis = "iterations of this model, at points not used in the fit"
	} else {
		e.Time = composeOnce(&l, known.Operations)
	}
	if s, ok := known.Servers[name]; ok {
		e.Origin.Server = &s
	}
	e.Origin.Decode = Accuracy{capcli.Figure(off[0]), capcli.Figure(off[1])}
	e.Origin.Prefill = Accuracy{capcli.Figure(off[2]), capcli.Figure(off[3])}
	return nil
}

// sameShape reports whether m is the known model of its name.
func sameShape(m Model) bool {
	known, err := Models.Get(m.Name)
	return err == nil && known == m
}

// nearest is the type of weights with the fewest bits that was measured.
func (m *Measured) nearest() string {
	if _, ok := m.Operations.Products["fp8"]; ok {
		return "fp8"
	}
	return "bfloat16"
}

// apply multiplies the time by what was stated.
func (f *Factors) apply(e *Estimate) error {
	for _, x := range []struct {
		name string
		v    float64
	}{{"quantised", f.Quantised}, {"compiled", f.Compiled}} {
		if x.v == 0 {
			continue
		}
		if !(x.v > 0 && x.v <= 100) {
			return &capcli.RequestError{Field: x.name, Text: fmt.Sprintf("wants a factor on the time above 0 and at most 100, found %v", x.v)}
		}
		e.Time = Scale(e.Time, x.v, x.v)
		e.Origin.Stated = append(e.Origin.Stated, fmt.Sprintf("%s: the time × %v", x.name, x.v))
	}
	if f.Speculative == 0 && f.SpeculativeGains == 0 {
		return nil
	}
	step, tokens := f.Speculative, f.SpeculativeGains
	step = cmp.Or(step, 1)
	tokens = cmp.Or(tokens, 1)
	if !(step > 0 && step <= 100 && tokens >= 1 && tokens <= 100) {
		return &capcli.RequestError{Field: "speculative", Text: fmt.Sprintf("wants a time above 0 and tokens of 1 to 100, found %v and %v", step, tokens)}
	}
	e.Time = Scale(e.Time, step/tokens, 1)
	e.Origin.Stated = append(e.Origin.Stated, fmt.Sprintf("speculative: a step of decoding takes × %v and makes %v tokens", step, tokens))
	return nil
}

// Scale multiplies the parts of a time that decoding has (the fixed parts, sequences and the cache) by
// decode, and those that prompts have (each token and each pair of tokens) by prefill.
func Scale(t serving.Time, decode, prefill float64) serving.Time {
	by := func(v int64, f float64) int64 { return int64(math.Round(float64(v) * f)) }
	out := serving.Time{C0: by(t.C0, decode), Seq: by(t.Seq, decode), KV: by(t.KV, decode), PA: by(t.PA, prefill)}
	for _, l := range t.Lin {
		out.Lin = append(out.Lin, [2]int64{by(l[0], decode), by(l[1], prefill)})
	}
	return out
}

// addRoom says how many sequences of some lengths the cache holds.
func (e *Estimate) addRoom(lengths []int64) {
	if lengths == nil {
		lengths = []int64{512, 2048, 8192, 32768, 131072}
	}
	for _, tokens := range lengths {
		n := e.Memory.Blocks / ((tokens + e.BlockSize - 1) / e.BlockSize)
		if n == 0 {
			e.Room = append(e.Room, Room{tokens, 0, 0})
			break
		}
		room := Room{Tokens: tokens, Sequences: n}
		if e.Missing == "" {
			room.Micros = e.Time.Micros(n, n, n*tokens, 0)
		}
		e.Room = append(e.Room, room)
	}
}
