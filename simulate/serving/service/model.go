package service

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate/serving/roofline"
)

// Model says which model a service runs on which GPUs. From it follow the time of an iteration, the blocks
// of the KV cache and the GPUs of a replica, where the service does not state them.
type Model struct {
	Request   roofline.Request
	Estimate  *roofline.Estimate // nil where no model is stated
	TimeTable string             // file of measured iterations, relative to the service's; "" is none

	origin *roofline.Origin // of the time; nil where it is stated
}

func (s *Spec) modelFields() []strict.Field {
	r := &s.Request
	if r.GPUs == 0 {
		*r = roofline.Defaults
	}
	return []strict.Field{
		{"model", "a known model (capcli service model lists them), or its own numbers", s.readModel},
		{"gpu_model", "kind of GPU, such as H100", s.readGPU},
		{"gpu_memory", "memory of a GPU, such as 80Gi, where it is not that of gpu_model", memory(&r.GPU.Bytes, 1<<20)},
		{"tensor_parallel", "GPUs that share one copy of the model", strict.Integer(&r.GPUs, 1, 1024)},
		{"weights", "precision of the weights: bf16, fp8, 8bit, 4bit", strict.Choice(&r.Weights, "precision", roofline.Precisions()...)},
		{"kv", "precision of the KV cache: 16 or 8", strict.Choice(&r.Cache, "precision", "16", "8", "bf16", "fp8", "16bit", "8bit")},
		{"utilisation", "share of the memory of a GPU that may be used, 0.9", permille(&r.Permille)},
		{"reserve", "memory of a GPU for activations and the runtime, 3.5Gi", memory(&r.Reserve, 0)},
		{"quantised", "stated effect of quantised kernels: {time: 0.7}, a factor on the time", factors.reader(&r.Factors.Quantised, nil)},
		{"compiled", "stated effect of compilation: {time: 0.7}, a factor on the time", factors.reader(&r.Factors.Compiled, nil)},
		{"speculative", "stated effect of speculative decoding: {tokens: 2.5, time: 1.3}: tokens made by a step, factor on its time", factors.reader(&r.Factors.Speculative, &r.Factors.SpeculativeGains)},
		{"calibration", "correction from a server of your own, of capcli service fit: {factor: 1.05, c0: 300us, seq: 5us}", calibration.Reader(&r.Calibrated)},
		{"time_table", "file of your own iteration times: tokens, sequences, kv, us", strict.Text(&s.TimeTable, 4096)},
	}
}

// factorSection is the form of a stated factor.
type factorSection struct{}

var factors factorSection

// reader reads {time: …}, and tokens where gains is not nil.
func (factorSection) reader(factor, gains *float64) strict.Reader {
	section := strict.Section[float64]{Name: "a stated factor", Fields: func(v *float64) []strict.Field {
		out := []strict.Field{{"time", "factor on the time", strict.Number(v, 0.01, 100)}}
		if gains != nil {
			out = append(out, strict.Field{Name: "tokens", Doc: "mean tokens that a step makes", Read: strict.Number(gains, 1, 100)})
		}
		return out
	}}
	if gains == nil {
		section.Needs = []string{"time"}
	} else {
		section.Check = func(o *strict.Object, _ *float64) {
			if !o.Has("time") && !o.Has("tokens") {
				o.Fault("tokens", "state tokens, or time, or both")
			}
		}
	}
	return section.Reader(factor)
}

var calibration = strict.Section[roofline.Calibration]{Name: "calibration", Fields: func(c *roofline.Calibration) []strict.Field {
	return []strict.Field{
		{"factor", "on the whole time", strict.Number(&c.Factor, 0.01, 100)},
		{"c0", "added to each iteration, such as 300us", picoseconds(&c.C0)},
		{"seq", "added for each sequence, such as 5us", picoseconds(&c.Seq)},
	}
}}

// picoseconds reads a short length of time, such as 300us or 1.5ms; a bare number is picoseconds.
func picoseconds(dst *int64) strict.Reader {
	const form = "a length of time such as 300us or 1.5ms"
	return strict.Value(dst, form, form, func(text string) (int64, bool) {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n, n >= 0 && n <= 1e15
		}
		number, unit := text, int64(0)
		for _, u := range []struct {
			name string
			ps   int64
		}{{"us", 1e6}, {"µs", 1e6}, {"ms", 1e9}, {"ns", 1e3}, {"ps", 1}, {"s", 1e12}} {
			if rest, ok := strings.CutSuffix(text, u.name); ok {
				number, unit = strings.TrimSpace(rest), u.ps
				break
			}
		}
		v, err := strconv.ParseFloat(number, 64)
		if err != nil || unit == 0 || !(v >= 0) || v*float64(unit) > float64(1000*time.Second)*1e3 {
			return 0, false
		}
		return int64(math.Round(v * float64(unit))), true
	})
}

// memory reads an amount of memory in bytes, such as 80Gi, 80GiB or 3758096384.
func memory(dst *int64, lo int64) strict.Reader {
	const form = "an amount of memory such as 80Gi or 3.5GiB"
	return strict.Value(dst, form, form, func(text string) (int64, bool) {
		q, err := capcli.ParseQuantity(strings.TrimSuffix(strings.ReplaceAll(text, " ", ""), "B"))
		if err != nil {
			return 0, false
		}
		return q.Value(), q.Value() >= lo && q.Value() <= 1<<50
	})
}

// permille reads a share of 0.01 to 1, or a percentage such as 90%.
func permille(dst *int64) strict.Reader {
	const form = "a share such as 0.9 or 90%"
	return strict.Value(dst, form, form, func(text string) (int64, bool) {
		number, percent := strings.CutSuffix(text, "%")
		v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if percent {
			v /= 100
		}
		return int64(math.Round(v * 1000)), err == nil && v >= 0.01 && v <= 1
	})
}

// readModel reads the name of a model, or a map of its numbers.
func (s *Spec) readModel(d *strict.Decoder, n *yaml.Node) {
	m := &s.Request.Model
	if n.Kind != yaml.MappingNode {
		strict.Value(m, "the name of a model, or its numbers", "the name of a model", func(text string) (roofline.Model, bool) {
			found, err := roofline.FindModel(text)
			if err != nil {
				d.Fault(n, "%s; or state its numbers: {parameters: …, layers: …, heads: …, kv_heads: …, head_dim: …, hidden: …, intermediate: …, vocabulary: …}", err)
			}
			return found, true
		})(d, n)
		if !d.IsDescribing(n) {
			return
		}
	}
	ownModel.Read(d, n, m)
}

var ownModel = strict.Section[roofline.Model]{
	Name:  "model",
	Needs: []string{"parameters", "layers", "heads", "head_dim"},
	Fields: func(m *roofline.Model) []strict.Field {
		return []strict.Field{
			{"name", "what it is called", strict.Name(&m.Name)},
			{"parameters", "number of weights, 8030261248", strict.Integer(&m.Parameters, 1, 1e14)},
			{"layers", "num_hidden_layers of its config.json", strict.Integer(&m.Layers, 1, 10_000)},
			{"heads", "num_attention_heads", strict.Integer(&m.Heads, 1, 10_000)},
			{"kv_heads", "num_key_value_heads; heads where it is not given", strict.Integer(&m.KVHeads, 1, 10_000)},
			{"head_dim", "head_dim: hidden_size / num_attention_heads in most models", strict.Integer(&m.HeadDim, 1, 10_000)},
			{"hidden", "hidden_size; the time needs it", strict.Integer(&m.Hidden, 1, 1e7)},
			{"intermediate", "intermediate_size; the time needs it", strict.Integer(&m.Intermediate, 1, 1e7)},
			{"vocabulary", "vocab_size; the time needs it", strict.Integer(&m.Vocabulary, 1, 1e7)},
		}
	},
	Check: func(_ *strict.Object, m *roofline.Model) {
		m.KVHeads = cmp.Or(m.KVHeads, m.Heads)
		m.Source = "stated"
	},
}

func (s *Spec) readGPU(d *strict.Decoder, n *yaml.Node) {
	g := &s.Request.GPU
	strict.Value(g, "a kind of GPU", "a kind of GPU such as H100", func(text string) (roofline.GPU, bool) {
		found, err := roofline.FindGPU(text)
		if err != nil {
			d.Fault(n, "%s", err)
		}
		if g.Bytes > 0 { // gpu_memory stands before gpu_model
			found.Bytes = g.Bytes
		}
		return found, true
	})(d, n)
}

// modelNames are the fields of the model that only a model has a use for.
var modelNames = []string{
	"model", "gpu_model", "gpu_memory", "tensor_parallel", "weights", "kv", "utilisation", "reserve", "quantised", "compiled", "speculative", "calibration",
}

// checkModel derives the time, the blocks and the GPUs of a replica from the model, where they are not
// stated. What is stated wins.
func (s *Spec) checkModel(o *strict.Object) {
	if o.Has("time") && o.Has("time_table") {
		o.FaultName("time_table", "time and time_table both say how long an iteration takes; keep one")
	}
	i := slices.IndexFunc(modelNames, o.Has)
	if i < 0 || s.HasBatchTime() || !o.IsClean(append([]string{"time", "time_table", "blocks", "block_size"}, modelNames...)...) {
		return
	}
	if !o.Has("model") || !o.Has("gpu_model") && !o.Has("gpu_memory") {
		o.FaultMissing("model", "%s needs model and gpu_model: the time and the memory follow from both", modelNames[i])
		return
	}
	r := &s.Request
	if o.Has("block_size") && s.Config.BlockSize > 0 {
		r.BlockSize = s.Config.BlockSize
	}
	r.Timeless = o.Has("time") || o.Has("time_table")
	e, err := r.Estimate()
	if err != nil {
		s.refuseModel(o, err)
		return
	}
	s.Estimate = e
	if !r.Timeless {
		s.Config.Time, s.origin = e.Time, &e.Origin
	}
	if !o.Has("blocks") {
		s.Config.Blocks = e.Memory.Blocks
	}
	s.Config.BlockSize = r.BlockSize
	if !o.Has("gpus") {
		s.Config.GPUs = r.GPUs
	}
}

// refuseModel adds the fault of a model that has no estimate.
func (s *Spec) refuseModel(o *strict.Object, err error) {
	var wrong *capcli.RequestError
	if !errors.As(err, &wrong) {
		o.Fault("model", "%s", err)
		return
	}
	text := strings.TrimPrefix(wrong.Text, ": ")
	if wrong.Hint != "" {
		text += "; " + wrong.Hint
	}
	if !o.Has(wrong.Field) {
		o.FaultMissing("model", "%s %s", wrong.Field, text)
		return
	}
	o.Fault(wrong.Field, "%s %s", wrong.Field, text)
}

// Origin says where the time of an iteration comes from, and how far it may be off.
func (s *Spec) Origin() roofline.Origin {
	if s.origin != nil {
		return *s.origin
	}
	return roofline.Origin{Source: "stated"}
}

// originNotes says of each service whose time is modelled where it comes from.
func originNotes(specs []*Spec) (out []string) {
	for _, s := range specs {
		if s.origin != nil {
			out = append(out, fmt.Sprintf("%s: %s", cmp.Or(s.Name, "the service"), s.origin.Remark()))
		}
	}
	return out
}

// ReadTimeTable reads the service's own table of iterations, if it names one, and takes its time from it.
// open opens a file beside the service's own.
func (s *Spec) ReadTimeTable(open func(name string) (io.ReadCloser, error)) error {
	if s.TimeTable == "" {
		return nil
	}
	f, err := open(s.TimeTable)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }()
	table, err := roofline.ReadIterations(s.TimeTable, f)
	if err != nil {
		return err
	}
	fit, err := roofline.FitIterations(table)
	if err != nil {
		return err
	}
	s.Config.Time, s.origin = fit.Time, &fit.Origin
	if s.Estimate != nil {
		s.Estimate.Time, s.Estimate.Origin = fit.Time, fit.Origin
	}
	return nil
}
