package roofline

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"capcli"
	"capcli/simulate/serving"
)

// FitRequest asks for a time from measurements of one's own.
type FitRequest struct {
	Question Question // what was measured; only a table of a server needs it
	Chunk    int64    // tokens of a piece of a prompt
}

// FitResult is a time fitted to measurements, or a calibration.
type FitResult struct {
	Schema      string       `json:"schema"`
	Kind        string       `json:"kind"` // iterations or server
	Input       string       `json:"input"`
	Rows        int          `json:"rows"` // fitted
	Time        serving.Time `json:"time"` // picoseconds; of several servers see groups
	Calibration *Calibration `json:"calibration,omitempty"`
	Without     *Accuracy    `json:"error_without,omitempty"` // of the time that was not calibrated
	HeldOut     Accuracy     `json:"held_out_error"`          // each row by a fit to the three quarters without it
	Block       string       `json:"block"`                   // lines of a service
	Predicted   []Predicted  `json:"predicted"`
	Model       *Estimate    `json:"model,omitempty"`
	Groups      []GroupFit   `json:"groups,omitempty"`   // of a table of servers: one for each server
	LeftOut     int          `json:"left_out,omitempty"` // rows without a batch, tokens or a time
}

// Calibrated are the groups that have a calibration.
func (f *FitResult) Calibrated() []GroupFit {
	return slices.DeleteFunc(slices.Clone(f.Groups), func(g GroupFit) bool { return g.Skipped != "" })
}

// GroupFit is the calibration of one server.
type GroupFit struct {
	MeasuredOn
	Rows        int          `json:"rows"`
	Calibration Calibration  `json:"calibration"`
	Time        serving.Time `json:"time"`
	Without     Accuracy     `json:"error_without"`
	HeldOut     Accuracy     `json:"held_out_error"`
	Block       string       `json:"block"`
	Skipped     string       `json:"skipped,omitempty"` // why there is no calibration

	model     *Estimate
	predicted []Predicted
}

// Predicted is a row of the measurements beside the fit to all.
type Predicted struct {
	Batch     int64         `json:"batch"` // requests present, or sequences of the iteration
	In        int64         `json:"tokens_in,omitempty"`
	Out       int64         `json:"tokens_out,omitempty"`
	Tokens    int64         `json:"tokens,omitempty"` // of the iteration
	Measured  float64       `json:"measured_ms"`
	Fitted    float64       `json:"fitted_ms"`
	Deviation capcli.Figure `json:"deviation"`
	Present   int64         `json:"present,omitempty"` // requests that the KV cache holds at once
}

// Fit reads measurements and fits. A table with tpot_ms is of a server under steady load and gives a calibration; one
// with us is of iterations and gives a time.
func (f *FitRequest) Fit(file string, text io.Reader) (*FitResult, error) {
	if f.Chunk < 1 || f.Chunk > 1<<24 {
		return nil, &capcli.RequestError{Field: "chunk", Text: fmt.Sprintf("wants 1 to %d tokens, found %d", 1<<24, f.Chunk)}
	}
	s, err := openSheet(file, text)
	if err != nil {
		return nil, err
	}
	switch {
	case s.FindColumn(serverColumns[3]...) >= 0:
		return f.fitServer(s)
	case s.FindColumn(iterationColumns[3]...) >= 0:
		return fitTable(s)
	}
	return nil, &capcli.InputError{
		File: file, Line: 1, Text: "the header has neither tpot_ms, of a server under steady load, nor us, of iterations",
		Hint: "a server: batch,tokens_in,tokens_out,tpot_ms; iterations: tokens,sequences,kv,us. Its columns are " + strings.Join(capcli.Abridge(s.Names, 20), ", "),
	}
}

func fitTable(s *sheet) (*FitResult, error) {
	samples, err := s.iterations()
	if err != nil {
		return nil, err
	}
	fit, err := FitIterations(samples)
	if err != nil {
		return nil, err
	}
	out := &FitResult{Schema: "capcli/service_fit/v1", Kind: "iterations", Input: s.File, Rows: fit.Rows, Time: fit.Time, HeldOut: fit.Error, Block: timeBlock(&fit.Time)}
	for _, x := range samples {
		us := micros(&fit.Time, x.T, x.S, x.KV, x.PA)
		out.Predicted = append(out.Predicted, Predicted{Batch: int64(x.S), Tokens: int64(x.T), Measured: x.Micros / 1000, Fitted: thousandths(us / 1000), Deviation: deviation(us, x.Micros)})
	}
	return out, nil
}

// timeBlock writes a time as a field of a service.
func timeBlock(t *serving.Time) string {
	lines := capcli.Map(t.Lin, func(l [2]int64) string { return fmt.Sprintf("[%d, %d]", l[0], l[1]) })
	return fmt.Sprintf("time:\n  c0: %d\n  lin: [%s]\n  seq: %d\n  kv: %d\n  pa: %d\n", t.C0, strings.Join(lines, ", "), t.Seq, t.KV, t.PA)
}

// fitServer calibrates. Rows of several engines, models, GPUs, widths or precisions are calibrated apart.
func (f *FitRequest) fitServer(s *sheet) (*FitResult, error) {
	rows, on, leftOut, err := s.measurements()
	if err != nil {
		return nil, err
	}
	out := &FitResult{Schema: "capcli/service_fit/v1", Kind: "server", Input: s.File, LeftOut: leftOut}
	groups := map[MeasuredOn][]Measurement{}
	var order []MeasuredOn
	for i, g := range on {
		if g = f.complete(g); groups[g] == nil {
			order = append(order, g)
		}
		groups[g] = append(groups[g], rows[i])
	}
	slices.SortFunc(order, compareGroups)
	var before, after []float64
	var failed error
	for _, g := range order {
		fit, errors, err := f.fitGroup(g, groups[g])
		if err != nil {
			failed = cmp.Or(failed, err)
			out.Groups = append(out.Groups, GroupFit{MeasuredOn: g, Rows: len(groups[g]), Without: accuracy(nil), HeldOut: accuracy(nil), Skipped: whySkipped(err)})
			continue
		}
		before, after = append(before, errors[0]...), append(after, errors[1]...)
		out.Groups = append(out.Groups, *fit)
		out.Rows += fit.Rows
	}
	if len(after) == 0 {
		return nil, cmp.Or[error](failed, &capcli.InputError{
			File: s.File, Text: fmt.Sprintf("no row can be fitted; %d %s without a value", leftOut, capcli.Agree(int64(leftOut), "is", "are")),
			Hint: "each row wants batch, tokens_in, tokens_out and tpot_ms",
		})
	}
	without := accuracy(before)
	out.Without, out.HeldOut = &without, accuracy(after)
	if len(order) == 1 {
		g := &out.Groups[0]
		out.Time, out.Calibration, out.Block, out.Model, out.Predicted = g.Time, &g.Calibration, g.Block, g.model, g.predicted
	}
	return out, nil
}

// whySkipped shortens an error: names that are not known are listed once elsewhere.
func whySkipped(err error) string {
	text, _, _ := strings.Cut(err.Error(), " have ")
	return strings.TrimRight(strings.TrimPrefix(text, ": "), ":; ")
}

// complete fills what a row does not say from the question.
func (f *FitRequest) complete(g MeasuredOn) MeasuredOn {
	q := &f.Question
	g.GPUs = cmp.Or(g.GPUs, q.GPUs)
	g.Weights = cmp.Or(g.Weights, q.Weights)
	g.GPU = cmp.Or(g.GPU, q.GPU)
	if q.Own == nil {
		g.Model = cmp.Or(g.Model, q.Model)
	}
	return g
}

func compareGroups(a, b MeasuredOn) int {
	return cmp.Or(cmp.Compare(a.Model, b.Model), cmp.Compare(a.GPU, b.GPU), cmp.Compare(a.Weights, b.Weights), cmp.Compare(a.GPUs, b.GPUs), cmp.Compare(a.Engine, b.Engine))
}

// fitGroup calibrates by the rows of one server. It returns their errors before and after too.
func (f *FitRequest) fitGroup(g MeasuredOn, rows []Measurement) (*GroupFit, [2][]float64, error) {
	q := f.Question
	q.Model, q.GPU, q.GPUs, q.Weights = g.Model, g.GPU, g.GPUs, g.Weights
	if q.Model == "" && q.Own == nil {
		return nil, [2][]float64{}, &capcli.RequestError{
			Field: "model", Text: "wants the model that was measured: a calibration corrects its time",
			Hint: "for example model=llama-3.1-70b gpu=H100 tp=4 weights=fp8",
		}
	}
	e, err := q.Estimate()
	if err == nil && e.Missing != "" {
		err = &capcli.RequestError{Text: ": " + e.Missing}
	}
	if err != nil {
		return nil, [2][]float64{}, err
	}
	server := Server{e.Time, f.Chunk, e.Memory.Tokens}
	fit, before, after, err := server.calibrate(rows)
	if err != nil {
		return nil, [2][]float64{}, err
	}
	out := &GroupFit{MeasuredOn: g, Rows: fit.Rows, Calibration: fit.Calibration, Time: fit.Time, Without: fit.Before, HeldOut: fit.After, model: e}
	out.Block = fmt.Sprintf("model: %s\ngpu_model: %s\ntensor_parallel: %d\nweights: %s\nkv: %s\ncalibration: %s\n", e.Model.block(), e.GPU.Name, e.GPUs, e.Weights, q.Cache, fit.Calibration)
	server.Time = fit.Time
	for i := range rows {
		m := &rows[i]
		ms := server.TPOT(m)
		out.predicted = append(out.predicted, Predicted{
			Batch: m.Batch, In: m.In, Out: m.Out, Measured: m.TPOT, Fitted: thousandths(ms), Deviation: deviation(ms, m.TPOT), Present: server.present(m),
		})
	}
	return out, [2][]float64{before, after}, nil
}

// block writes the model as a field of a service: its name, or its numbers.
func (m *Model) block() string {
	if sameShape(*m) {
		return m.Name
	}
	return fmt.Sprintf("{parameters: %d, layers: %d, heads: %d, kv_heads: %d, head_dim: %d, hidden: %d, intermediate: %d, vocabulary: %d}",
		m.Parameters, m.Layers, m.Heads, m.KVHeads, m.HeadDim, m.Hidden, m.Intermediate, m.Vocabulary)
}

func thousandths(v float64) float64 { return math.Round(v*1000) / 1000 }

func deviation(fitted, measured float64) capcli.Figure {
	return capcli.Figure(math.Round((fitted/measured-1)*1e4) / 1e4)
}

// Calibration corrects a time by measurements of a whole server: time · Factor + C0 + Seq · sequences. The
// zero value changes nothing.
type Calibration struct {
	Factor float64 `json:"factor,omitempty"` // on the whole time; 0 is 1
	C0     int64   `json:"c0,omitempty"`     // picoseconds of an iteration
	Seq    int64   `json:"seq,omitempty"`    // picoseconds of a sequence
}

// Check returns a *capcli.RequestError for a wrong number.
func (c Calibration) Check() error {
	if c.Factor < 0 || c.Factor > 100 || math.IsNaN(c.Factor) {
		return &capcli.RequestError{Field: "calibration", Text: fmt.Sprintf("wants a factor above 0 and at most 100, found %v", c.Factor)}
	}
	if c.C0 < 0 || c.Seq < 0 {
		return &capcli.RequestError{Field: "calibration", Text: "wants c0 and seq that are not negative"}
	}
	return nil
}

// Apply returns the corrected time.
func (c Calibration) Apply(t serving.Time) serving.Time {
	f := cmp.Or(c.Factor, 1)
	t = Scale(t, f, f)
	t.C0 += c.C0
	t.Seq += c.Seq
	return t
}

func (c Calibration) apply(e *Estimate) error {
	if c == (Calibration{}) {
		return nil
	}
	if err := c.Check(); err != nil {
		return err
	}
	e.Time = c.Apply(e.Time)
	e.Origin.Stated = append(e.Origin.Stated, "calibration: "+c.String())
	return nil
}

// String writes the calibration as a field of a service.
func (c Calibration) String() string {
	f := cmp.Or(c.Factor, 1)
	return fmt.Sprintf("{factor: %.4g, c0: %.4gus, seq: %.4gus}", f, float64(c.C0)/1e6, float64(c.Seq)/1e6)
}
