package play

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/money/prices"
)

// Question describes the case to make: a scenario, changes to it, and jobs.
type Question struct {
	Scenario string        // a file or the name of a library scenario; "" is one that fits Trace, else the default
	Kept     *ScenarioText // a text read before, used instead of Scenario; nil is none
	Sets     []string
	Policy   string // replaces the scenario's policy; "" keeps it
	Place    string // replaces the scenario's placement; "" keeps it
	Perfect  bool   // policies believe true run times
	Period   string // replaces the scenario's period: "2027-01-01 to 2027-01-28", or "trace" for the days of Trace
	Models   string // "any": jobs run on GPUs of any model
	Seed     *capcli.Seed
	Trace    string        // a job log that replaces the scenario's jobs; "" is none
	Read     trace.Request // how to read Trace
	Prices   *prices.List  // take precedence over the catalogue; nil is none
}

// ScenarioText is the text of a scenario.
type ScenarioText struct {
	YAML []byte
	File string
	Made []string // assumptions made when it was written for a log
}

// tracePeriod is the value of Period that stands for the days of the log.
const tracePeriod = "trace"

// Settle turns Models, and a Period that needs no log, into Sets, which a folder of runs keeps. It
// fails with *capcli.RequestError.
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

// setPeriod sets the period of the scenario. If there is a log, it removes the generator, which
// makes no jobs then and might not fit the period.
func (q *Question) setPeriod(text string) {
	q.Sets = append(q.Sets, "period="+text)
	if q.Trace != "" {
		q.Sets = append(q.Sets, "jobs.generate=null")
	}
	q.Period = ""
}

// Maker makes cases. It reads stdin once, and surveys a trace once: all its questions must have the
// same trace.
type Maker struct {
	Logs *Logs
	Note func(text string) // receives notes about the cases; may be nil
	// Counting is called before a log is surveyed. The functions it returns receive the number of
	// jobs so far and the final number. It may be nil.
	Counting func() (now, end func(jobs int64))

	survey *scenarios.LogSurvey
	fitted *ScenarioText
}

// Case makes the case of a question. It changes q as Settle does.
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

// settlePeriod settles q. For the period "trace" it surveys the log.
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

// Survey returns the survey of the question's log. It reads the log once.
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

// readLog starts a reading of a log with the question's options.
func (m *Maker) readLog(file string, q *Question) (*Reading, error) {
	read, err := q.Read.Parse()
	if err != nil {
		return nil, err
	}
	return m.Logs.Read(file, read)
}

// Text returns the scenario of a question: a file, a library scenario or the default. With a trace
// and no scenario it is one that fits the trace. It fails with *capcli.UnknownError for a name that
// is neither a file nor in the library.
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

// ScenarioMax is the most bytes read of a scenario: one more than the parser accepts, so that the
// parser can report the excess.
const ScenarioMax = 1<<20 + 1

// fit makes a scenario for a trace without one: owned capacity of the size that LogSurvey.Size
// returns, at the assumed price.
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

// assumedPrice is the price of an owned GPU-hour if none is stated. It is a round figure, and every
// result that uses it says so.
const assumedPrice = "2.00"

func (m *Maker) note(text string) {
	if m.Note != nil {
		m.Note(text)
	}
}

// logForScenario returns an error if the file given as a scenario is a job log; nil if it is not.
func (m *Maker) logForScenario(q *Question) error {
	if q.Scenario == "" || q.Kept != nil || m.Logs == nil {
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
