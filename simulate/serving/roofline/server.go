package roofline

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

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

// ReadMeasurements reads a table of a server under steady load. Its columns: batch (or concurrency), tokens_in
// (or isl), tokens_out (or osl), tpot_ms (or itl_ms), and perhaps ttft_ms.
func ReadMeasurements(file string, r io.Reader) ([]Measurement, error) {
	s, err := openSheet(file, r)
	if err != nil {
		return nil, err
	}
	return s.measurements()
}

func (s *sheet) measurements() (out []Measurement, err error) {
	var at [4]int
	for i, names := range serverColumns {
		if at[i], err = s.column(names...); err != nil {
			return nil, err
		}
	}
	ttft := capcli.FindColumn(s.header, "ttft_ms", "ttft")
	for err = s.next(); err == nil; err = s.next() {
		v, err := s.positives(at[:])
		if err != nil {
			return nil, err
		}
		m := Measurement{int64(v[0]), int64(v[1]), int64(v[2]), v[3], 0}
		if ttft >= 0 && s.word(ttft) != "" {
			if m.TTFT, err = s.number(ttft); err != nil {
				return nil, err
			}
		}
		if m.Batch < 1 || m.Batch > MaxPresent || m.In < 1 || m.In > 1e8 || m.Out < 1 || m.Out > 1e8 {
			return nil, s.fault("", "wants a batch of 1 to %d and 1 to 100000000 tokens, found %d, %d and %d", MaxPresent, m.Batch, m.In, m.Out)
		}
		if out = append(out, m); len(out) > maxMeasured {
			return nil, s.fault("", "more than %d rows; thin them out", maxMeasured)
		}
	}
	return out, ended(err)
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
	return Steady(&s.Time, s.present(m), m.In, m.Out, s.Chunk) / 1000
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

// Calibrate fits a calibration to measurements. The error of each is that of a calibration by the three
// quarters that it is not in.
func (s *Server) Calibrate(rows []Measurement) (*ServerFit, error) {
	if len(rows) < 4 {
		return nil, &capcli.RequestError{Field: "measurements", Text: fmt.Sprintf("wants 4 rows or more, found %d", len(rows))}
	}
	list := slices.Clone(rows)
	slices.SortFunc(list, func(a, b Measurement) int {
		return cmp.Or(cmp.Compare(a.Batch, b.Batch), cmp.Compare(a.In, b.In), cmp.Compare(a.Out, b.Out), cmp.Compare(a.TPOT, b.TPOT))
	})
	var before, after []float64
	for f := range min(folds, len(list)) {
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
	fit := &ServerFit{Calibration: s.calibration(list), Rows: len(list), Before: accuracy(before), After: accuracy(after)}
	fit.Time = fit.Calibration.Apply(s.Time)
	return fit, nil
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
		const pull = 0.01
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
