package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"capcli"
	"capcli/profile/trace"
	"capcli/scenarios"
	"capcli/scenarios/prices"
)

// Question says what a case is made of: a scenario, what is changed in it, and jobs.
type Question struct {
	Scenario string        // a file, or the name of one of the library; "" is one that fits Trace, else the default
	Kept     *ScenarioText // in place of Scenario: a text that was read before
	Sets     []string
	Policy   string // in place of the scenario's; "" keeps it
	Place    string // placement, the same
	Perfect  bool   // policies believe true run times
	Period   string // in place of the scenario's: "2027-01-01 to 2027-01-28", or "trace" for the days of Trace
	Models   string // "any": jobs run on GPUs of any model
	Seed     *capcli.Seed
	Trace    string        // a job log in place of the scenario's jobs
	Read     trace.Request // how to read Trace
	Prices   *prices.List  // looked up before the catalogue; nil is none
}

// ScenarioText is a scenario as it was read.
type ScenarioText struct {
	YAML []byte
	File string
	Made []string // what was assumed in making it for a log
}

// tracePeriod is the Period that stands for the days of the log.
const tracePeriod = "trace"

// Settle turns Models and a Period that needs no log into changes of the scenario,
// which a folder of runs keeps as it keeps others. It fails with *capcli.RequestError.
func (q *Question) Settle() error {
	switch q.Models {
	case "":
	case "any":
		q.Sets, q.Models = append(q.Sets, "jobs.any_model=true"), ""
	default:
		return &capcli.RequestError{Field: "models", Text: "wants any, found " + q.Models, Hint: "--models any runs jobs on GPUs of any model"}
	}
	if q.Period != "" && q.Period != tracePeriod {
		if _, err := scenarios.ParsePeriod(q.Period); err != nil {
			return &capcli.RequestError{Field: "period", Text: ": " + err.Error(), Hint: "--period '2027-01-01 to 2027-01-28', or --period trace for the days of the log"}
		}
		q.setPeriod(q.Period)
	}
	return nil
}

// setPeriod changes the period of the scenario. Its generator makes no jobs where a log
// is given, so it need not fit the period.
func (q *Question) setPeriod(text string) {
	q.Sets = append(q.Sets, "period="+text)
	if q.Trace != "" {
		q.Sets = append(q.Sets, "jobs.generate=null")
	}
	q.Period = ""
}

// Maker makes cases. It reads stdin, and what it must know of a trace, once for all of
// them: the questions that it is asked have one trace.
type Maker struct {
	Logs *Logs
	Note func(text string) // takes what there is to say of the cases
	// Counting is called before a log is read to learn what it is like. It returns what
	// takes how many jobs have come, and how many there were. It may be nil.
	Counting func() (now, end func(jobs int64))

	survey *scenarios.LogSurvey
	fitted *ScenarioText
}

// Case makes the case of a question, which it settles.
func (m *Maker) Case(ctx context.Context, q *Question) (*Case, error) {
	if err := m.settlePeriod(ctx, q); err != nil {
		return nil, err
	}
	read, err := q.Read.Parse()
	if err != nil {
		return nil, err
	}
	text, err := m.Text(ctx, q)
	if err != nil {
		return nil, err
	}
	s, err := scenarios.ParseWith(q.Prices, text.File, text.YAML, q.Sets...)
	if err != nil {
		return nil, cmp.Or(m.logForScenario(q), err)
	}
	s.Policy.Name = cmp.Or(q.Policy, s.Policy.Name)
	s.Placement = cmp.Or(q.Place, s.Placement)
	s.Policy.Perfect = s.Policy.Perfect || q.Perfect
	c, err := NewCase(s, Options{Seed: q.Seed, Trace: q.Trace, Read: read, Logs: m.Logs, Note: m.Note})
	if err != nil {
		return nil, err
	}
	c.Text, c.Made = text.YAML, text.Made
	c.Notes = append(append([]string(nil), text.Made...), c.Notes...)
	return c, nil
}

// settlePeriod reads the log for the period "trace".
func (m *Maker) settlePeriod(ctx context.Context, q *Question) error {
	if err := q.Settle(); err != nil || q.Period == "" {
		return err
	}
	if q.Trace == "" {
		return &capcli.RequestError{Field: "period", Text: "trace takes the days of the log that --trace names, but there is no --trace", Hint: "--trace jobs.parquet --period trace"}
	}
	survey, err := m.Survey(ctx, q)
	if err != nil {
		return err
	}
	if !survey.Period().IsKnown() {
		return &capcli.InputError{File: q.Trace, Text: "expected jobs that want GPUs, found none", Hint: "capcli trace describe " + q.Trace}
	}
	q.setPeriod(survey.Period().String())
	return nil
}

// Survey returns what the log of the question is like. It reads it once.
func (m *Maker) Survey(ctx context.Context, q *Question) (*scenarios.LogSurvey, error) {
	if m.survey != nil {
		return m.survey, nil
	}
	reading, err := m.readLog(q.Trace, q)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reading.Close() }()
	now, end := func(int64) {}, func(int64) {}
	if m.Counting != nil {
		now, end = m.Counting()
	}
	survey := &scenarios.LogSurvey{}
	for j, err := range capcli.WatchJobs(ctx, reading.Jobs, now) {
		if err != nil {
			return nil, err
		}
		survey.Add(&j)
	}
	end(survey.Jobs())
	if reading.Reader != nil {
		if gpus := reading.Reader.Report().MachineGPUs; gpus != nil {
			survey.MachineGPUs = *gpus
		}
	}
	m.survey = survey
	return survey, nil
}

// readLog begins a reading of a log as the question says.
func (m *Maker) readLog(file string, q *Question) (*Reading, error) {
	read, err := q.Read.Parse()
	if err != nil {
		return nil, err
	}
	return m.Logs.Read(file, read)
}

// Text returns the scenario of a question: a file, one of the library, or the default;
// with a trace and no scenario, one that fits the trace. It fails with
// *capcli.UnknownError for a name that is neither.
func (m *Maker) Text(ctx context.Context, q *Question) (*ScenarioText, error) {
	if q.Kept != nil {
		return q.Kept, nil
	}
	if q.Scenario == "" && q.Trace != "" {
		return m.fit(ctx, q)
	}
	name := cmp.Or(q.Scenario, "default")
	if b, ok := scenarios.Library(name); ok {
		return &ScenarioText{YAML: b, File: name + ".yaml"}, nil
	}
	b, err := m.Logs.Open.ReadFile(name, ScenarioMax)
	if errors.Is(err, fs.ErrNotExist) && !strings.ContainsAny(name, "./\\") {
		return nil, scenarios.UnknownError(name)
	}
	return &ScenarioText{YAML: b, File: name}, err
}

// ScenarioMax is the most bytes that are read of a scenario: one more than the parser
// takes, so that it can say so.
const ScenarioMax = 1<<20 + 1

// fit makes a scenario for a trace that came without one: owned capacity of the size
// that was in use in the log; else that its header names; else that its jobs would keep
// four fifths busy.
func (m *Maker) fit(ctx context.Context, q *Question) (*ScenarioText, error) {
	if m.fitted != nil {
		return m.fitted, nil
	}
	survey, err := m.Survey(ctx, q)
	if err != nil {
		return nil, err
	}
	gpus, why := survey.Size()
	what := fmt.Sprintf("%s owned GPUs, %s, at $%s a GPU-hour", capcli.Grouped(gpus), why, assumedPrice)
	m.note("no scenario: assumed " + what + " (capcli scenarios init --trace writes a scenario that fits the log)")
	m.fitted = &ScenarioText{
		YAML: fmt.Appendf(nil, "capcli: scenario/v1\nname: trace\ncapacity:\n  - {name: assumed, kind: owned, gpus: %d, price: %s}\n", gpus, assumedPrice),
		File: "trace.yaml",
		Made: []string{"capacity and price are assumed: " + what},
	}
	return m.fitted, nil
}

// assumedPrice is what an owned GPU-hour is taken to cost where nobody said: a round
// figure, and every result that uses it says so.
const assumedPrice = "2.00"

func (m *Maker) note(text string) {
	if m.Note != nil {
		m.Note(text)
	}
}

// logForScenario says that a file given as a scenario is a job log; nil where it is
// none.
func (m *Maker) logForScenario(q *Question) error {
	if q.Scenario == "" || q.Kept != nil {
		return nil
	}
	reading, err := m.readLog(q.Scenario, q)
	if err != nil {
		return nil //nolint:nilerr // then it is no job log: what the scenario's reader said stands
	}
	defer func() { _ = reading.Close() }()
	for _, err := range reading.Jobs {
		if err != nil || reading.Reader == nil {
			break
		}
		file := capcli.ShellWord(q.Scenario)
		return &capcli.InputError{
			File: q.Scenario, Text: fmt.Sprintf("expected a scenario, found a job log (%s)", reading.Reader.Report().Format),
			Hint: fmt.Sprintf("give it with --trace %s; capcli scenarios init --trace %s --out plan.yaml writes a scenario that fits it", file, file),
		}
	}
	return nil
}
