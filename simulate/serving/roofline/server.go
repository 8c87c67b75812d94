package roofline

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/simulate/serving"
)

// Measurement is a server under steady load: so many requests always present, their lengths, and the mean
// time per output token.
type Measurement struct {
	Batch, In, Out int64
	TPOT           float64 // milliseconds
	TTFT           float64 // milliseconds; 0 is not measured
}

// MaxPresent is the largest number of requests of a measurement.
const MaxPresent = 1 << 16

// serverColumns are the names of the columns of a table of a server.
var serverColumns = [4][]string{
	{"batch", "batch_size", "concurrency"},
	{"tokens_in", "isl", "tokens in", "input_tokens"},
	{"tokens_out", "osl", "tokens out", "output_tokens"},
	{"tpot_ms", "itl_ms", "tpot"},
}

// MeasuredOn says on what a row was measured; empty fields are not said.
type MeasuredOn struct {
	Engine  string `json:"engine,omitempty"`
	Model   string `json:"model,omitempty"`
	GPU     string `json:"gpu,omitempty"`
	GPUs    int64  `json:"tensor_parallel,omitempty"`
	Weights string `json:"weights,omitempty"`
}

// groupColumns are the names of the columns that say on what a row was measured, in the order of MeasuredOn.
var groupColumns = [5][]string{
	{"engine", "backend"},
	{"model", "model_path"},
	{"gpu", "system", "gpu_model"},
	{"tp", "tp_size", "tensor_parallel"},
	{"weights", "precision"},
}

func (s *sheet) measurements() (rows []Measurement, on []MeasuredOn, leftOut int, err error) {
	var at [4]int
	for i, names := range serverColumns {
		if at[i], err = s.Column(names...); err != nil {
			return nil, nil, 0, err
		}
	}
	for err = s.next(); err == nil; err = s.next() {
		if slices.ContainsFunc(at[:], func(c int) bool { return s.word(c) == "" }) {
			leftOut++
			continue
		}
		m, err := s.measurement(at[:])
		if err != nil {
			return nil, nil, 0, err
		}
		g, err := s.measuredOn()
		if err != nil {
			return nil, nil, 0, err
		}
		rows, on = append(rows, m), append(on, g)
		if len(rows) > maxMeasured {
			return nil, nil, 0, s.fault("", "more than %d rows; thin them out", maxMeasured)
		}
	}
	return rows, on, leftOut, ended(err)
}

func (s *sheet) measurement(at []int) (m Measurement, err error) {
	v, err := s.positives(at)
	if err != nil {
		return m, err
	}
	m = Measurement{Batch: int64(v[0]), In: int64(v[1]), Out: int64(v[2]), TPOT: v[3]}
	if ttft := s.FindColumn("ttft_ms", "ttft"); ttft >= 0 && s.word(ttft) != "" {
		if m.TTFT, err = s.number(ttft); err != nil {
			return m, err
		}
	}
	if m.Batch < 1 || m.Batch > MaxPresent || m.In < 1 || m.In > 1e8 || m.Out < 1 || m.Out > 1e8 {
		return m, s.fault("", "wants a batch of 1 to %d and 1 to 100000000 tokens, found %d, %d and %d", MaxPresent, m.Batch, m.In, m.Out)
	}
	return m, nil
}

// measuredOn returns on what the row was measured.
func (s *sheet) measuredOn() (g MeasuredOn, err error) {
	words := make([]string, len(groupColumns))
	for i, names := range groupColumns {
		if c := s.FindColumn(names...); c >= 0 {
			words[i] = s.word(c)
		}
	}
	g = MeasuredOn{Engine: words[0], Model: words[1], GPU: words[2], Weights: strings.ToLower(words[4])}
	if words[3] != "" {
		tp, err := s.positive(s.FindColumn(groupColumns[3]...))
		if err != nil {
			return g, err
		}
		g.GPUs = int64(min(tp, 1<<20))
	}
	return g, nil
}

// Server predicts a whole server under steady load.
type Server struct {
	Time  serving.Time
	Chunk int64 // tokens of a piece of a prompt
	Room  int64 // tokens that the KV cache holds; 0 is no limit
}

// TPOT is the time per output token in milliseconds. Requests beyond what the cache holds wait, so they do
// not slow the others.
func (s *Server) TPOT(m *Measurement) float64 {
	return steadyStep(&s.Time, s.present(m), m.In, m.Out, s.Chunk) / 1000
}

// present is how many requests the cache holds at once: each has its prompt and half of its answer on
// average.
func (s *Server) present(m *Measurement) int64 {
	if s.Room <= 0 {
		return m.Batch
	}
	return max(1, min(m.Batch, s.Room/(m.In+m.Out/2)))
}

// ServerFit is a calibration of a time by measurements of a whole server.
type ServerFit struct {
	Calibration Calibration  `json:"calibration"`
	Time        serving.Time `json:"time"` // calibrated
	Rows        int          `json:"rows"`
	Before      Accuracy     `json:"error_without"`  // of the time that was not calibrated
	After       Accuracy     `json:"held_out_error"` // of each row by a calibration without it
}

// calibrate is Calibrate, with the errors of all rows before and after.
func (s *Server) calibrate(rows []Measurement) (fit *ServerFit, before, after []float64, err error) {
	if len(rows) < folds {
		return nil, nil, nil, &capcli.RequestError{Field: "measurements", Text: fmt.Sprintf("wants %d rows or more, found %d", folds, len(rows))}
	}
	list := slices.Clone(rows)
	slices.SortFunc(list, func(a, b Measurement) int {
		return cmp.Or(cmp.Compare(a.Batch, b.Batch), cmp.Compare(a.In, b.In), cmp.Compare(a.Out, b.Out), cmp.Compare(a.TPOT, b.TPOT))
	})
	for f := range folds {
		var kept, out []Measurement
		for i, m := range list {
			if i%folds == f {
				out = append(out, m)
			} else {
				kept = append(kept, m)
			}
		}
		c := Server{s.calibration(kept).Apply(s.Time), s.Chunk, s.Room}
		for i := range out {
			before = append(before, math.Abs(s.TPOT(&out[i])/out[i].TPOT-1))
			after = append(after, math.Abs(c.TPOT(&out[i])/out[i].TPOT-1))
		}
	}
	fit = &ServerFit{Calibration: s.calibration(list), Rows: len(list), Before: accuracy(before), After: accuracy(after)}
	fit.Time = fit.Calibration.Apply(s.Time)
	return fit, before, after, nil
}

// calibration returns the factor and overheads that are nearest to measurements in relative error. The
// time per token is linear in them: factor · TPOT + c0 + seq · requests. The squares are reweighted so that
// their sum approaches that of absolute relative errors, and a weak pull to a factor of 1 and no
// overhead decides what few measurements leave open.
func (s *Server) calibration(rows []Measurement) Calibration {
	weights := make([]float64, len(rows))
	for i := range weights {
		weights[i] = 1
	}
	plain := make([]float64, len(rows))
	for i := range rows {
		plain[i] = s.TPOT(&rows[i])
	}
	var x []float64
	for range 20 {
		n := newNormal(3)
		for i := range rows {
			m := &rows[i]
			n.add(weights[i]/(m.TPOT*m.TPOT), m.TPOT, []term{{0, plain[i]}, {1, 1}, {2, float64(s.present(m))}})
		}
		const pull = 0.3
		n.add(pull, 1, []term{{0, 1}})
		x = n.nonNegative()
		for i := range rows {
			m := &rows[i]
			e := math.Abs((x[0]*plain[i]+x[1]+x[2]*float64(s.present(m)))/m.TPOT - 1)
			weights[i] = 1 / max(e, 0.01)
		}
	}
	return Calibration{Factor: max(0.01, math.Round(x[0]*1e4)/1e4), C0: picoseconds(x[1] * 1000), Seq: picoseconds(x[2] * 1000)}
}
