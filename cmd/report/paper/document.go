package paper

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"capcli"
	"capcli/forecast/outlook"
	"capcli/profile/logs/trace"
	"capcli/scenarios/decide"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/decide/plan/joint"
	"capcli/scenarios/decide/plan/mix"
	"capcli/scenarios/decide/plan/sizing"
	"capcli/scenarios/outcome"
	"capcli/scenarios/play"
	"capcli/scenarios/validate"
)

// maxDocument is the largest saved result, in bytes; maxFiles is the most of them.
const (
	maxDocument = 512 << 20
	maxFiles    = 64
)

// Request asks for the paper of some saved results.
type Request struct {
	Title   string // "" takes the scenario of the answer
	Version string // of the program
	Command string // makes the paper again
	Files   []File // in the order in which they were named
}

// File is a saved result, as it was read.
type File struct {
	Name   string
	Text   []byte
	Inputs *play.Inputs // what a folder of runs was made from; nil where it is not known
	// Changed says which inputs of a folder of runs are not what they were, in words.
	Changed []string
}

// ReadFile reads a saved result. Beside the result of a folder of runs it reads what the runs were
// made from, and says which of it has changed or is gone since.
func ReadFile(open trace.Opener, name string) (*File, error) {
	text, err := readText(open, name)
	if err != nil {
		return nil, err
	}
	f := &File{Name: name, Text: text}
	folder := filepath.Dir(name)
	beside, err := readText(open, filepath.Join(folder, play.InputsFile))
	if err != nil || filepath.Base(name) != "result.json" {
		return f, nil //nolint:nilerr // a result that lies alone
	}
	if f.Inputs, err = play.ParseInputs(filepath.Join(folder, play.InputsFile), beside); err != nil {
		return nil, err
	}
	for _, in := range f.Inputs.Files {
		_, err := f.Inputs.Find(open, folder, in.File)
		if gone, ok := errors.AsType[*play.MissingInputError](err); ok {
			f.Changed = append(f.Changed, gone.Text)
		} else if err != nil {
			f.Changed = append(f.Changed, err.Error())
		}
	}
	return f, nil
}

// currentSum returns the checksum that input i of a folder of runs has now; "" where it is gone.
func currentSum(open trace.Opener, name string, in *play.Inputs, i int) string {
	for _, path := range []string{filepath.Join(filepath.Dir(name), filepath.FromSlash(in.Files[i].Here)), in.Files[i].File} {
		in, done, err := open(path)
		if err != nil {
			continue
		}
		sum := sha256.New()
		_, err = io.Copy(sum, in.R)
		if err = errors.Join(err, done.Close()); err == nil {
			return hex.EncodeToString(sum.Sum(nil))
		}
	}
	return ""
}

func readText(open trace.Opener, name string) ([]byte, error) {
	in, done, err := open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = done.Close() }()
	text, err := io.ReadAll(io.LimitReader(in.R, maxDocument+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("reading %s: %w", name, err)
	case len(text) > maxDocument:
		return nil, &capcli.InputError{File: name, Text: fmt.Sprintf("expected a result of at most %d MB, found more", maxDocument>>20)}
	}
	return text, nil
}

// trial is a plan that was simulated: runs of one scenario, policy and placement.
type trial struct {
	outcome.Plan
	file    *File
	partial *outcome.Partial
}

// source is a result of a plan with its file.
type source[T any] struct {
	*File
	Doc *T
}

// material is what a paper is made of: the results by kind, each in the order of the request.
type material struct {
	trials    []trial
	mixes     []source[mix.Result]
	futures   []source[futures.Result]
	curves    []source[curve.Result]
	joints    []source[joint.Result]
	forecasts []source[outlook.Result]
	checks    []source[validate.Result]
	services  []source[sizing.Result]
	decisions []source[decide.Result]
	notes     []string
}

// readers read a result by its schema. A new kind of result is an entry here.
var readers = map[string]func(m *material, f *File) error{
	"capcli/simulate/v1":     addRuns,
	"capcli/plan_mix/v1":     func(m *material, f *File) error { return add(f, &m.mixes) },
	"capcli/plan_futures/v1": func(m *material, f *File) error { return add(f, &m.futures) },
	"capcli/plan/v1":         func(m *material, f *File) error { return add(f, &m.curves) },
	"capcli/plan_joint/v1":   func(m *material, f *File) error { return add(f, &m.joints) },
	"capcli/forecast/v1":     func(m *material, f *File) error { return add(f, &m.forecasts) },
	"capcli/decide/v1":       func(m *material, f *File) error { return add(f, &m.decisions) },
	sizing.Schema:            func(m *material, f *File) error { return add(f, &m.services) },
	validate.Schema:          func(m *material, f *File) error { return add(f, &m.checks) },
}

// Schemas returns the schemas of the results that a paper is made from, in order.
func Schemas() []string { return slices.Sorted(maps.Keys(readers)) }

// head is what all results have.
type head struct {
	Schema   string `json:"schema"`
	Currency string `json:"currency"`
}

// newMaterial reads the files of a request. It fails with *capcli.InputError where a file is no
// result, or where results are in different currencies.
func newMaterial(files []File) (*material, error) {
	m := &material{}
	first := ""
	for i := range files {
		f := &files[i]
		var h head
		if err := json.Unmarshal(f.Text, &h); err != nil {
			return nil, noResult(f, "found "+err.Error())
		}
		read := readers[h.Schema]
		if read == nil {
			return nil, noResult(f, fmt.Sprintf("found the schema %.60q; have %s", h.Schema, strings.Join(Schemas(), ", ")))
		}
		switch h.Currency {
		case "", first:
		default:
			if first != "" {
				return nil, &capcli.InputError{
					File: f.Name, Field: "currency", Text: fmt.Sprintf("expected amounts in %s as in the results before it, found %.10q: they cannot be compared", first, h.Currency),
					Hint: "report results of one currency",
				}
			}
			if first = h.Currency; first != "USD" {
				return nil, &capcli.InputError{File: f.Name, Field: "currency", Text: fmt.Sprintf("expected amounts in USD, found %.10q", h.Currency)}
			}
		}
		if err := read(m, f); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func noResult(f *File, found string) error {
	return &capcli.InputError{
		File: f.Name, Text: "expected a saved result of capcli simulate, plan, decide, forecast or validate, " + found,
		Hint: "write one with capcli simulate --out DIR, capcli plan … --save FILE or capcli forecast … -o json --out FILE",
	}
}

// add decodes a document into the list of its kind.
func add[T any](f *File, list *[]source[T]) error {
	doc := new(T)
	if err := json.Unmarshal(f.Text, doc); err != nil {
		return noResult(f, "found "+err.Error())
	}
	*list = append(*list, source[T]{f, doc})
	return nil
}

// addRuns adds the plans of a result of simulate.
func addRuns(m *material, f *File) error {
	var doc outcome.Document
	if err := json.Unmarshal(f.Text, &doc); err != nil {
		return noResult(f, "found "+err.Error())
	}
	if len(doc.Runs) == 0 {
		return &capcli.InputError{File: f.Name, Field: "runs", Text: "expected a run, found none", Hint: "make it again with capcli simulate --out DIR"}
	}
	for _, p := range outcome.Plans(doc.Runs) {
		for i := range p.Runs {
			if p.Runs[i].Ended <= 0 {
				return &capcli.InputError{File: f.Name, Field: "length_s", Text: fmt.Sprintf("expected a run of some length, found %d s", p.Runs[i].Ended)}
			}
		}
		m.trials = append(m.trials, trial{Plan: p, file: f, partial: doc.Partial})
	}
	m.notes = append(m.notes, doc.Notes...)
	return nil
}

// check refuses results that say nothing, which would be an empty picture.
func (m *material) check() error {
	for _, x := range m.mixes {
		if len(x.Doc.Plans) == 0 && x.Doc.Closest == nil && x.Doc.Binding == nil && len(x.Doc.Unpriced) == 0 {
			return noResult(x.File, "found a plan without a mix")
		}
	}
	for _, x := range m.decisions {
		if len(x.Doc.Alternatives) == 0 && x.Doc.Nearest == nil {
			return noResult(x.File, "found a decision without a plan")
		}
	}
	for _, x := range m.futures {
		if len(x.Doc.Plans) == 0 || x.Doc.Futures.Count < 1 {
			return noResult(x.File, "found a plan without futures")
		}
	}
	for _, x := range m.services {
		if r := x.Doc; len(r.Choices) == 0 || r.Best != nil && (*r.Best < 0 || *r.Best >= len(r.Choices) || r.Replicas == nil || r.GPUs == nil || len(r.Costs) == 0) {
			return noResult(x.File, "found a plan of a service without a size")
		}
	}
	for _, x := range m.forecasts {
		for i := range x.Doc.Series {
			if s := &x.Doc.Series[i]; len(s.DS) != len(s.Mean) {
				return noResult(x.File, fmt.Sprintf("found %d values for %d steps of the series %.60q", len(s.Mean), len(s.DS), s.ID))
			}
		}
	}
	return nil
}

// name returns the name of a plan that was simulated. Where two results have it, the name of the
// file is added.
func (m *material) name(t *trial) string {
	same := 0
	for i := range m.trials {
		if m.trials[i].Name == t.Name {
			same++
		}
	}
	if same < 2 {
		return t.Name
	}
	return t.Name + " (" + strings.TrimSuffix(t.file.Name, "/result.json") + ")"
}

// runsText says over how many runs figures are.
func runsText(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%s runs", capcli.Grouped(int64(n)))
}

// lengthText formats a length of time; whole days are in days.
func lengthText(s capcli.Seconds) string {
	if s > 0 && s%capcli.Day == 0 {
		return fmt.Sprintf("%s %s", capcli.Grouped(int64(s/capcli.Day)), capcli.Plural(int64(s/capcli.Day), "day"))
	}
	return s.String()
}

// orNone returns the texts joined, or none.
func orNone(list []string) string { return cmp.Or(strings.Join(list, ", "), "none") }
