package decide

import (
	"bytes"
	"context"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/forecast/demand"
	"capcli/forecast/history"
	"capcli/forecast/outlook"
	"capcli/profile/logs/trace"
	"capcli/scenarios"
	"capcli/scenarios/decide/plan/curve"
	"capcli/scenarios/decide/plan/futures"
	"capcli/scenarios/inputs"
	"capcli/scenarios/kinds"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/play"
)

// The documents of the chain.
const (
	JobsFile      = "jobs.parquet"
	DescribeFile  = "describe.json"
	ForecastFile  = "forecast.json"
	FuturesFile   = "futures.parquet"
	ScenarioFile  = "plan.yaml"
	PurchasesFile = "purchases.json"
	planFile      = "plan.json"
	DecisionFile  = "decision.json"
	meetingFile   = "meeting.html"
)

// Step is one step of the chain: a command of the program, and the documents that it writes.
type Step struct {
	Name    string   `json:"step"`
	Command string   `json:"command"`
	Files   []string `json:"files"`
}

// chain is a decision in progress.
type chain struct {
	*settled
	w       *World
	memory  *kept
	docs    map[string][]byte
	open    trace.Opener
	own     *prices.List // nil is none
	offer   *prices.Offer
	place   *prices.Quote // the cheapest commitment that is fenced; nil is none
	noPlace error         // why no place holds the limits
	out     *Result
	doneN   int

	planned []outlook.Event // the events of the forecast
	apart   []byte          // the futures without their events, an outlook.Apart; nil where there are none

	bareFails bool // no plan holds the limits without any request either

	tail    float64 // mean demand of the last week of the log, in GPUs
	tested  int     // days ahead for which the forecast was tried on the past
	history *capcli.Series
	gone    *history.Review // what of the log's demand is gone
	alone   float64         // use if each job had machines of its own, over use

	given     *inputs.Set   // what the question is asked of
	rules     *kinds.Rules  // of Request.Tiers; nil is none
	byKind    *kinds.Report // likewise
	spotPeak  float64       // most GPUs at once of the jobs that may run on spot, had nobody waited
	described *trace.Description
	set       *futures.Set
	bought    *futures.Result
	desk      *desk
	pricesSum string
}

type chainStep struct {
	name string
	run  func(context.Context) error
}

// Decide runs the chain. Where ctx ends after a plan is found, it returns that plan with the cause of
// ctx, and Result.Partial says what is missing. It fails with *capcli.RequestError for a wrong request, with
// *capcli.InputError where an input is, and with the errors of the steps. Where no mix holds the
// limits it returns the Result with a *capcli.ResultError of the kind NoPlan, which names the nearest
// mix. It returns one of that kind too, with Result.Ways, where the answer hangs on a choice that is the
// user's: Request.AsIf.
func Decide(ctx context.Context, q *Request, w *World) (*Result, error) {
	s, err := q.settle()
	if err != nil {
		return nil, err
	}
	c := &chain{settled: s, w: w, docs: map[string][]byte{}, out: newResult(s, w)}
	folder := w.Cache
	if folder == nil {
		folder = &inMemory{}
	}
	c.memory = &kept{folder: folder, version: w.Build, note: w.Note}
	c.open = c.opener()
	c.out.asked, c.out.prices, c.out.Texts = c.flags(), c.Prices, c.docs
	if err := c.readPrices(); err != nil {
		return nil, err
	}
	steps := []chainStep{
		{"import", c.importLog},
		{"describe", c.describe},
		{"forecast", c.lookAhead},
		{"plan for the futures", c.buy},
		{"scenario", c.write},
		{"plan", c.decide},
		{"try it on the past", c.backtest},
	}
	if len(c.Events) > 0 {
		steps = slices.Insert(steps, len(steps)-1, chainStep{"requests", c.priceAsks})
	}
	if c.Tiers != "" {
		steps = append(slices.Insert(steps, 1, chainStep{"kinds", c.sortJobs}), chainStep{"tiers", c.tryTiers})
	}
	for _, step := range steps {
		if c.doneN++; c.w.Step != nil {
			c.w.Step(c.doneN, len(steps), step.name)
		}
		if err = step.run(ctx); err == nil {
			continue
		}
		if c.out.Failure != "" {
			return c.out, errors.Join(err, c.saveAnswer())
		}
		if ctx.Err() == nil || c.out.Plan == nil && c.out.Nearest == nil {
			return nil, err
		}
		c.out.Partial = fmt.Sprintf("stopped at the step %q: what it and later steps add is missing", step.name)
		err = context.Cause(ctx)
		break
	}
	err = errors.Join(err, c.answer())
	if c.w.Documents == nil {
		return c.out, err
	}
	return c.out, errors.Join(c.report(), err)
}

// report writes the decision, and the page of the meeting where there is a plan.
func (c *chain) report() error {
	line := command("report", DecisionFile, PurchasesFile, ForecastFile, "--out", meetingFile)
	page := c.out.Found && c.w.Paper != nil
	if page {
		c.out.Steps = append(c.out.Steps, Step{"report", line, []string{meetingFile}})
	}
	if err := c.saveAnswer(); err != nil || !page {
		return err
	}
	html, err := c.w.Paper(c.open, []string{DecisionFile, PurchasesFile, ForecastFile}, line)
	if err != nil {
		return err
	}
	return c.w.Documents.Write(meetingFile, html)
}

func (c *chain) saveAnswer() error {
	text, err := encode(c.out)
	if err != nil || c.w.Documents == nil {
		return err
	}
	c.docs[DecisionFile] = text
	return c.w.Documents.Write(DecisionFile, text)
}

// opener returns an opener that knows the documents of the chain.
func (c *chain) opener() trace.Opener {
	return func(name string) (trace.Input, io.Closer, error) {
		b, ok := c.docs[name]
		if !ok {
			return c.w.Open(name)
		}
		return trace.Input{Name: name, R: bytes.NewReader(b), At: bytes.NewReader(b), Size: int64(len(b))}, io.NopCloser(nil), nil
	}
}

// put adds documents, and writes them.
func (c *chain) put(name, command string, f *files, names ...string) error {
	for _, n := range names {
		c.docs[n] = f.Texts[n]
		if c.w.Documents != nil {
			if err := c.w.Documents.Write(n, f.Texts[n]); err != nil {
				return err
			}
		}
	}
	for _, n := range f.Notes {
		c.w.note(n)
	}
	c.out.Steps = append(c.out.Steps, Step{name, command, names})
	return nil
}

func command(words ...string) string {
	out := []string{"capcli"}
	for _, w := range words {
		out = append(out, capcli.ShellWord(w))
	}
	return strings.Join(out, " ")
}

// encode writes a document as -o json does.
func encode(doc any) ([]byte, error) {
	var b bytes.Buffer
	err := capcli.WriteJSON(&b, doc)
	return b.Bytes(), err
}

func (c *chain) readPrices() (err error) {
	if c.Prices != "" {
		b, err := c.w.Open.ReadFile(c.Prices, prices.MaxBytes+1)
		if err != nil {
			return err
		}
		c.pricesSum = hashOf(b)
		if c.own, err = prices.Parse(c.Prices, b); err != nil {
			return err
		}
	}
	c.offer, err = c.offerOf(c.own)
	return err
}

// readFlags are the settings of Read as flags of import.
func (c *chain) readFlags() []string {
	r := &c.Read
	var out []string
	for _, kv := range [][2]string{{"tz", r.TZ}, {"dst", r.DST}, {"times", r.Times}, {"dates", r.Dates}, {"columns", r.Columns}} {
		if kv[1] != "" {
			out = append(out, "--read", kv[0]+"="+kv[1])
		}
	}
	out = withFlag(out, "--read", r.Map)
	if r.AllowCut {
		out = append(out, "--read", "allow-cut")
	}
	return out
}

// lawModel is the model whose futures purchases are decided on.
const lawModel = "mixture"

// lookAhead forecasts the demand of the jobs by hour, with possible futures.
func (c *chain) lookAhead(ctx context.Context) error {
	words := []string{"forecast", c.jobsFile(), "--step", "1h", "--model", lawModel, "--horizon", c.Horizon, "--paths", strconv.Itoa(c.Futures), "--seed", strconv.FormatUint(uint64(c.Seed), 10)}
	what := []string{"forecast", hashOf(c.docs[c.jobsFile()]), strings.Join(words, " ")}
	for _, name := range c.Events {
		sum, err := inputs.Hash(c.w.Open, name)
		if err != nil {
			return err
		}
		words, what = append(words, "--events", name), append(what, name, sum)
		c.out.Inputs = append(c.out.Inputs, inputs.Input{File: name, SHA256: sum, Kind: inputs.Events, Took: "planned events, for the forecast"})
	}
	f, err := c.recall(what, func() (*files, error) { return c.makeForecast(ctx) })
	if err != nil {
		return err
	}
	c.out.Notes = append(c.out.Notes, f.Notes...)
	if err := c.readForecast(f.Texts[ForecastFile]); err != nil {
		return err
	}
	c.apart = f.Texts[apartText]
	line := command(append(words, "--out", FuturesFile, "-o", "json")...) + " > " + ForecastFile
	return c.put("forecast", line, f, FuturesFile, ForecastFile)
}

// apartText is the text of a forecast that is kept in the cache and is no document: an outlook.Apart.
const apartText = "apart"

// readForecast reads from a forecast its events and how far ahead it was tried on the past.
func (c *chain) readForecast(text []byte) error {
	var doc struct {
		Series []struct {
			Backtest *struct {
				Steps int `json:"steps"`
			} `json:"backtest"`
		} `json:"series"`
		Events []outlook.Event `json:"events"`
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		return fmt.Errorf("%s: %w", ForecastFile, err)
	}
	c.planned = doc.Events
	for _, s := range doc.Series {
		if s.Backtest != nil {
			c.tested = max(c.tested, s.Backtest.Steps/24)
		}
	}
	return nil
}

func (c *chain) makeForecast(ctx context.Context) (*files, error) {
	step, err := capcli.ParseStep("1h")
	if err != nil {
		return nil, err
	}
	ask := outlook.Request{Model: lawModel, Levels: []float64{80, 95}, Horizon: c.Horizon, Paths: c.Futures, Seed: c.Seed, Apart: true}
	if _, err := capcli.ParseTime(c.Horizon, nil, true); err == nil {
		ask.Horizon, ask.Until = "", c.Horizon
	}
	if err := ask.Check(); err != nil {
		return nil, err
	}
	if len(c.Events) > 0 {
		if ask.Events, err = play.ReadEvents(c.w.Open, c.Events, nil); err != nil {
			return nil, err
		}
	}
	hs, err := demand.Read(ctx, demand.Request{Inputs: []string{c.jobsFile()}, Measure: "demand", Step: step}, c.sources())
	if err != nil {
		return nil, err
	}
	r, err := outlook.Forecast(ctx, hs, ask, nil)
	if err != nil {
		return nil, err
	}
	if err := r.CheckFutures(); err != nil {
		return nil, err
	}
	var paths bytes.Buffer
	if err := r.WriteFuturesParquet(&paths); err != nil {
		return nil, err
	}
	text, err := encode(r)
	if err != nil {
		return nil, err
	}
	out := &files{Texts: map[string][]byte{FuturesFile: paths.Bytes(), ForecastFile: text}, Notes: r.Notes()}
	if a := r.FuturesApart(); a != nil {
		var b bytes.Buffer
		err = gob.NewEncoder(&b).Encode(a)
		out.Texts[apartText] = b.Bytes()
	}
	return out, err
}

func (c *chain) sources() demand.Sources {
	return demand.Sources{Open: c.open, Progress: func(unit string) (at, end func(n int64)) { return c.w.progress(unit) }}
}

// floats reports whether a commitment covers use wherever it runs, so that it is a bill and no place.
func floats(q *prices.Quote) bool { return q.Properties().Floats() }

// readFutures reads the futures, and says what places can be had.
func (c *chain) readFutures(ctx context.Context) (err error) {
	if c.set, err = c.source().Read(ctx, c.sources()); err != nil {
		return err
	}
	c.out.Start, c.out.End = c.set.Futures.Start(), c.set.Futures.End()
	c.out.Length = capcli.Seconds(c.out.End - c.out.Start)
	for i := range c.offer.Committed {
		if q := &c.offer.Committed[i]; !floats(q) && (c.place == nil || q.PerGPU() < c.place.PerGPU()) {
			c.place = q
		}
	}
	return nil
}

// source is the futures as commands read them.
func (c *chain) source() *futures.Source {
	return &futures.Source{File: FuturesFile, HalfLife: "90d", Seed: c.Seed, Demand: curve.Source{Request: demand.Request{Measure: "demand", Curve: true}}}
}

// buy plans purchases for the futures.
func (c *chain) buy(ctx context.Context) error {
	if err := c.readFutures(ctx); err != nil {
		return err
	}
	c.takeBill()
	q := &futures.Request{Source: *c.source(), Risk: c.Risk, SizedFor: []float64{0.5, 0.8, 0.95}, Wait: "3mo", Market: c.marketFor(c.offer)}
	words := []string{"plan", "futures", FuturesFile, "--on-demand", q.Market.OnDemand}
	words = withFlag(withFlag(words, "--term", q.Market.Terms), "--held", c.Held)
	if c.lot() > 1 {
		words = append(words, "--buy", "lot="+q.Market.Lot)
	}
	if c.Risk != "mean" {
		words = append(words, "--risk", c.Risk)
	}
	if c.Seed != 1 {
		words = append(words, "--seed", strconv.FormatUint(uint64(c.Seed), 10))
	}
	question, err := q.Parse()
	if err != nil {
		return err
	}
	if c.bought, err = question.Plan(ctx, c.set); err != nil {
		return err
	}
	if c.bought.Partial != "" {
		return errors.New(c.bought.Partial)
	}
	if c.desk, err = c.newDesk(); err != nil {
		return err
	}
	text, err := encode(c.bought)
	if err != nil {
		return err
	}
	line := command(append(append(words, c.priceFlags()...), "-o", "json", "--out", PurchasesFile)...)
	return c.put("plan for the futures", line, &files{Texts: map[string][]byte{PurchasesFile: text}}, PurchasesFile)
}

// write writes the scenario in which the plan can be played.
func (c *chain) write(ctx context.Context) error {
	maker := &play.Maker{Logs: &play.Logs{Open: c.open}}
	survey, err := maker.Survey(ctx, &play.Question{Trace: c.jobsFile()})
	if err != nil {
		return err
	}
	key := c.scenarioPrice()
	fit := scenarios.FitOptions{Log: c.jobsFile(), From: c.jobsFile(), GPUModel: c.GPU, Prices: c.own.Override(prices.Catalogue()), Commit: key}
	made, err := survey.FitCommitment(fit, c.own)
	if err != nil {
		return err
	}
	words := append([]string{"scenarios", "init", "--trace", c.jobsFile(), "--gpu-model", c.GPU, "--commit", key}, c.priceFlags()...)
	return c.put("scenario", command(append(words, "--out", ScenarioFile)...), &files{Texts: map[string][]byte{ScenarioFile: append([]byte(c.w.Head), made.Text...)}}, ScenarioFile)
}

// scenarioPrice returns the key of the scenario's commitment: that of a place, of the first purchase, else
// the cheapest.
func (c *chain) scenarioPrice() string {
	if c.place != nil {
		return c.place.Key()
	}
	if list := c.bought.Optimum.Purchases; len(list) > 0 {
		if q, ok := c.offer.ForTerm(list[0].Term); ok {
			return q.Key()
		}
	}
	best := &c.offer.Committed[0]
	for i := range c.offer.Committed {
		if q := &c.offer.Committed[i]; q.PerGPU() < best.PerGPU() {
			best = q
		}
	}
	return best.Key()
}

func (c *chain) priceFlags() []string {
	if c.Prices == "" {
		return nil
	}
	return []string{"--prices", c.Prices}
}

// lot returns the number of GPUs that are bought together: those of one machine.
func (c *chain) lot() int { return max(1, c.offer.OnDemand.GPUs) }
