// Package widths answers how wide one job should run and on which GPU model: "8 hours on 64 GPUs or 32 hours on
// 16", "H100s or twice as many A100s". It reads the run times from texts and tables, and puts the exact answers
// of simulate/width into a document and into words.
package widths

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/profile/logs/trace"
	"capcli/scenarios/decide/plan/market"
	"capcli/scenarios/money/prices"
	"capcli/simulate/width"
)

// Request is the question, as text. Run times come from exactly one of Times, Amdahl and Table.
type Request struct {
	Times []string // 64=8h,16=32h, or of one model H100:64=8h,16=32h

	Amdahl string // serial share: 0.05 or 5%
	OneGPU string // run time on one GPU of speed 1
	Widths string // GPU counts, 1,2,4..64
	Speed  []string

	Table   string   // file with columns gpu_model, gpus, and run_s or steps_per_s
	JobType string   // value of the column job_type
	Where   []string // COLUMN=VALUE
	Steps   int64    // of the job, where the table has rates

	Price    []string // H100=2.50 or H100=KEY; the models, in order
	Most     []string // H100=64: no more GPUs of the model than that
	Deadline string   // run time that the job may take
	Budget   string   // dollars

	Prices *prices.List
}

// question is a parsed request.
type question struct {
	*Request
	models   []width.Model
	rates    []capcli.Rate
	deadline capcli.Seconds // 0 is none
	budget   *big.Rat       // nil is none
	notes    []string
}

// optionsMost is the most options of a question.
const optionsMost = 10_000

// Plan answers the request. It opens the table, if one is named. It fails with a *capcli.RequestError or a
// *capcli.InputError.
func (r *Request) Plan(open trace.Opener) (*Result, error) {
	q := &question{Request: r}
	for _, step := range []func() error{q.parsePrices, q.parseMost, q.parseLimits, func() error { return q.parseTimes(open) }} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	options, err := width.Options(q.models, q.deadline)
	switch {
	case err != nil:
		return nil, &capcli.RequestError{Text: "plan width: " + err.Error(), Hint: "give run times of less than 1000 years and prices that people pay"}
	case len(options) == 0:
		return nil, &capcli.RequestError{Field: "most", Text: ": every option takes more GPUs than there are", Hint: "give a narrower option, or a higher most"}
	case len(options) > optionsMost:
		return nil, &capcli.RequestError{Text: fmt.Sprintf("plan width takes up to %d options, found %d", optionsMost, len(options)), Hint: "name fewer widths or models"}
	}
	return q.answer(options), nil
}

func refuse(field, hint, format string, args ...any) error {
	return &capcli.RequestError{Field: field, Text: fmt.Sprintf(format, args...), Hint: hint}
}

// splitPairs cuts NAME=VALUE,NAME=VALUE texts into pairs.
func splitPairs(field, hint string, texts []string) ([][2]string, error) {
	var out [][2]string
	for _, text := range texts {
		for part := range strings.SplitSeq(text, ",") {
			name, value, ok := strings.Cut(part, "=")
			name, value = strings.TrimSpace(name), strings.TrimSpace(value)
			if !ok || name == "" || value == "" {
				return nil, refuse(field, hint, "wants NAME=VALUE, found %s", capcli.Quoted(part))
			}
			out = append(out, [2]string{name, value})
		}
	}
	return out, nil
}

func (q *question) parsePrices() error {
	const hint = "price=H100=2.50,A100=1.80"
	pairs, err := splitPairs("price", hint, q.Price)
	if err != nil {
		return err
	}
	if len(pairs) == 0 {
		return &capcli.RequestError{Field: "price", Text: "is missing: plan width wants the price of a GPU-hour of each model", Hint: hint}
	}
	keys := &market.Keys{Prices: q.Prices}
	for _, p := range pairs {
		if q.find(p[0]) != nil {
			return refuse("price", hint, "has %s twice", p[0])
		}
		rate, err := keys.Rate("price "+p[0], p[1])
		if err != nil {
			return err
		}
		q.rates = append(q.rates, rate)
		q.models = append(q.models, width.Model{Name: p[0], Price: big.NewRat(int64(rate), int64(capcli.Dollar))})
	}
	q.notes = append(q.notes, keys.Notes()...)
	return nil
}

// find returns the model of a name, ignoring case; nil where it has no price.
func (q *question) find(name string) *width.Model {
	i := slices.IndexFunc(q.models, func(m width.Model) bool { return strings.EqualFold(m.Name, name) })
	if i < 0 {
		return nil
	}
	return &q.models[i]
}

// wantModel is find with an error where the model has no price.
func (q *question) wantModel(field, name string) (*width.Model, error) {
	m := q.find(name)
	if m == nil {
		return nil, refuse(field, "price="+name+"=2.50", "names %s, which has no price: have %s", capcli.Quoted(name), strings.Join(q.names(), ", "))
	}
	return m, nil
}

func (q *question) names() []string {
	return capcli.Map(q.models, func(x width.Model) string { return x.Name })
}

func (q *question) parseMost() error {
	pairs, err := splitPairs("most", "most=H100=64", q.Most)
	if err != nil {
		return err
	}
	for _, p := range pairs {
		m, err := q.wantModel("most", p[0])
		if err != nil {
			return err
		}
		if m.GPUs, err = parseCount("most", p[1]); err != nil {
			return err
		}
	}
	return nil
}

// gpusMost is the most GPUs of an option.
const gpusMost = 1_000_000

func parseCount(field, text string) (int, error) {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 || n > gpusMost {
		return 0, refuse(field, "", "wants a number of GPUs from 1 to %d, found %s", gpusMost, capcli.Quoted(text))
	}
	return n, nil
}

// timeMost is the longest run time that a question may name: a thousand years.
const timeMost = 1000 * 366 * capcli.Day

func parseTime(field, text string) (capcli.Seconds, error) {
	t, err := capcli.ParseSeconds(text)
	if err != nil || t < 1 || t > timeMost {
		return 0, refuse(field, "times are 90s, 30m, 8h or 2d", "wants a time over 0, found %s", capcli.Quoted(text))
	}
	return t, nil
}

// parseLimits reads the deadline and the budget.
func (q *question) parseLimits() (err error) {
	if q.Deadline != "" {
		if q.deadline, err = parseTime("deadline", q.Deadline); err != nil {
			return err
		}
	}
	if q.Budget == "" {
		return nil
	}
	text, times := capcli.CutMagnitude(q.Budget)
	usd, err := capcli.ParseUSD(text)
	if err != nil || usd > capcli.USD(1<<62)/capcli.USD(times) {
		return refuse("budget", "budget=2000", "wants dollars, found %s", capcli.Quoted(q.Budget))
	}
	q.budget = big.NewRat(int64(usd)*times, int64(capcli.Dollar))
	return nil
}

// parseTimes reads the run times from the one source that is named.
func (q *question) parseTimes(open trace.Opener) error {
	var given []string
	for _, s := range []struct {
		name string
		on   bool
	}{{"times", len(q.Times) > 0}, {"amdahl", q.Amdahl != ""}, {"measured", q.Table != ""}} {
		if s.on {
			given = append(given, s.name)
		}
	}
	switch {
	case len(given) == 0:
		return &capcli.RequestError{Text: "plan width wants run times: give times, amdahl or measured", Hint: "times=64=8h,16=32h"}
	case len(given) > 1:
		return &capcli.RequestError{Text: "plan width takes run times from one source, found " + strings.Join(given, " and "), Hint: "leave out all but one"}
	case q.Amdahl == "" && (q.OneGPU != "" || q.Widths != "" || len(q.Speed) > 0):
		return &capcli.RequestError{Field: "amdahl", Text: "is missing: one-gpu, widths and speed belong to it", Hint: "amdahl=0.05 one-gpu=80h widths=1,2,4,8"}
	case q.Table == "" && (q.JobType != "" || len(q.Where) > 0 || q.Steps != 0):
		return &capcli.RequestError{Field: "measured", Text: "is missing: job-type, where and steps belong to it", Hint: "measured=throughput.csv"}
	case q.Amdahl != "":
		return q.parseAmdahl()
	case q.Table != "":
		return q.readTable(open)
	}
	return q.parseStated()
}

// parseStated reads run times that are stated for each GPU count.
func (q *question) parseStated() error {
	const hint = "times=H100:64=8h,16=32h"
	for _, text := range q.Times {
		name, list, has := strings.Cut(text, ":")
		if !has {
			if name, list = q.models[0].Name, text; len(q.models) > 1 {
				return refuse("times", hint, "%s does not say which model it is of: have %s", capcli.Quoted(text), strings.Join(q.names(), ", "))
			}
		}
		m, err := q.wantModel("times", strings.TrimSpace(name))
		if err != nil {
			return err
		}
		pairs, err := splitPairs("times", hint, []string{list})
		if err != nil {
			return err
		}
		for _, p := range pairs {
			gpus, err := parseCount("times", p[0])
			if err != nil {
				return err
			}
			run, err := parseTime("times", p[1])
			if err != nil {
				return err
			}
			if slices.ContainsFunc(m.Points, func(o width.Point) bool { return o.GPUs == gpus }) {
				return refuse("times", hint, "has %d %s twice", gpus, m.Name)
			}
			m.Points = append(m.Points, width.Point{GPUs: gpus, Run: run})
		}
	}
	return q.checkEveryModel("times", hint)
}

// checkEveryModel fails where a model with a price has no run time.
func (q *question) checkEveryModel(field, hint string) error {
	for i := range q.models {
		if m := &q.models[i]; len(m.Points) == 0 {
			return refuse(field, hint, "has no run time for %s, which has a price", m.Name)
		}
	}
	return nil
}

// parseAmdahl computes run times by Amdahl's law.
func (q *question) parseAmdahl() error {
	const hint = "amdahl=0.05 one-gpu=80h widths=1,2,4,8"
	if q.OneGPU == "" || q.Widths == "" {
		return &capcli.RequestError{Field: "amdahl", Text: "wants one-gpu, the run time on one GPU, and widths, the GPU counts to try", Hint: hint}
	}
	a := width.Amdahl{}
	var err error
	if a.Serial, err = parseShare(q.Amdahl); err != nil {
		return refuse("amdahl", hint, "wants a serial share from 0 to 1, found %s", capcli.Quoted(q.Amdahl))
	}
	if a.OneGPU, err = parseTime("one-gpu", q.OneGPU); err != nil {
		return err
	}
	counts, err := parseWidths(q.Widths)
	if err != nil {
		return err
	}
	speeds, err := q.parseSpeeds()
	if err != nil {
		return err
	}
	for i := range q.models {
		for _, n := range counts {
			run, err := a.Run(n, speeds[i])
			if err != nil {
				return refuse("amdahl", hint, "on %d %s %v", n, q.models[i].Name, err)
			}
			q.models[i].Points = append(q.models[i].Points, width.Point{GPUs: n, Run: run})
		}
	}
	return nil
}

// parseShare reads 0.05 or 5% exactly.
func parseShare(text string) (*big.Rat, error) {
	number, percent := strings.CutSuffix(strings.TrimSpace(text), "%")
	r, err := width.ParseDecimal(number)
	if err != nil {
		return nil, err
	}
	if percent {
		r.Quo(r, big.NewRat(100, 1))
	}
	if r.Sign() < 0 || r.Cmp(big.NewRat(1, 1)) > 0 {
		return nil, fmt.Errorf("not from 0 to 1")
	}
	return r, nil
}

// parseWidths reads 1,2,4 and ranges 8..64:8.
func parseWidths(text string) ([]int, error) {
	var out []int
	seen := map[int]bool{}
	for part := range strings.SplitSeq(text, ",") {
		from, rest, isRange := strings.Cut(part, "..")
		if !isRange {
			rest = from
		}
		to, step, has := strings.Cut(rest, ":")
		a, err := parseCount("widths", from)
		if err != nil {
			return nil, err
		}
		b, err := parseCount("widths", to)
		if err != nil {
			return nil, err
		}
		by := 1
		if has {
			if by, err = parseCount("widths", step); err != nil {
				return nil, err
			}
		}
		if b < a || (b-a)/by >= optionsMost {
			return nil, refuse("widths", "widths=1,2,4 or 8..64:8", "wants a rising range of at most %d counts, found %s", optionsMost, capcli.Quoted(part))
		}
		for n := a; n <= b; n += by {
			if seen[n] {
				return nil, refuse("widths", "", "has %d twice", n)
			}
			seen[n] = true
			out = append(out, n)
		}
	}
	return out, nil
}

// parseSpeeds returns the speed of each model, 1 where none is named.
func (q *question) parseSpeeds() ([]*big.Rat, error) {
	out := make([]*big.Rat, len(q.models))
	for i := range out {
		out[i] = big.NewRat(1, 1)
	}
	pairs, err := splitPairs("speed", "speed=H100=2.2", q.Speed)
	if err != nil {
		return nil, err
	}
	for _, p := range pairs {
		m, err := q.wantModel("speed", p[0])
		if err != nil {
			return nil, err
		}
		v, err := width.ParseDecimal(p[1])
		if err != nil || v.Sign() <= 0 {
			return nil, refuse("speed", "speed=H100=2.2", "wants a number over 0, found %s", capcli.Quoted(p[1]))
		}
		for i := range q.models {
			if &q.models[i] == m {
				out[i] = v
			}
		}
	}
	return out, nil
}

func (q *question) readTable(open trace.Opener) error {
	in, done, err := open(q.Table)
	if err != nil {
		return err
	}
	defer func() { _ = done.Close() }()
	text, err := trace.Unpack(in)
	if err != nil {
		return capcli.NameFile(err, q.Table)
	}
	return q.readRows(text)
}
