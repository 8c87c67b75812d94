package paper_test

import (
	"encoding/json"
	"errors"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"capcli"
	"capcli/cmd/report/paper"
)

// undone is the share of the work that is not served, as an answer says it.
const undoneForm = `(?:(?P<all>all work that could be done by the end is served)|all but (?:under )?{undone:s} of the work is served(?: \((?:under )?{ulo:s} to (?:under )?{uhi:s}(?: in 90% of |, the lowest and highest of )the runs\))?)`

var answers = map[string]*regexp.Regexp{
	"mix": form(`Commit to (?:(?P<nothing>nothing)|{gpus:n} (?:\S+ )?GPUs \({pool:t}, {terms:t}\))(?:, with {rules:t})?: (?:the \w+ of the cost is )?{cost:m} a year(?:, {lo:m} to {hi:m}(?: in 90% of |, the lowest and highest of ){over:t})?; ` + undoneForm +
		`; (?:no job waits|jobs wait {mean:w} on average(?:, {hours:n} hours together)?; the p95 wait is {wait:w}(?: \({waitlo:w} to {waithi:w}\))?); (?:the limits hold in {held:s} of {of:t}|(?P<one>the limits hold in the one run))\. (?:No mix of these pools (?:that serves as well )?can cost less than {bound:m} a year, so the gap is at most {gap:s}|No lower bound on the cost is known)` +
		`(?:\. The order binds until {end:d}: {owed:m} of it is for the time after the runs)?`),
	"runs": form(`(?:Of {n:n} plans {best:t} is the cheapest that holds its limits\. )?The plan {name:t} costs {cost:m} a year at the rate of {days:t}(?:, {lo:m} to {hi:m}(?: in 90% of |, the lowest and highest of ){over:t})?; ` + undoneForm +
		`; 95% of the jobs wait at most {wait:w}(?:; (?:the limits hold in {held:s} of {of:t}|(?P<one>the limits hold in the one run)|(?P<broken>the limits do not hold)))?(?:; {stranded:m} of the cost of {total:m} is for committed GPUs that nobody held)?`),
}

// TestTheAnswerIsTrue: every number of the first sentence is that of the tables below it.
func TestTheAnswerIsTrue(t *testing.T) {
	for _, tt := range []struct {
		kind, table, column, row string
		files                    []string
	}{
		{"mix", "mixes", "What it is", "cheapest", []string{"mix", "run-week", "run-small"}},
		{"mix", "mixes", "What it is", "cheapest", []string{"logmix", "run-log"}},
		{"mix", "mixes", "What it is", "cheapest", []string{"played"}},
		{"runs", "plans", "Plan", "week", []string{"run-week"}},
		{"runs", "plans", "Plan", "log", []string{"run-log"}},
		{"runs", "plans", "Plan", "small", []string{"run-week", "run-small"}},
	} {
		doc := readDocument(t, tt.files...)
		text := strings.Join(append([]string{doc.Answer.Sentence}, doc.Answer.Details...), " ")
		m := answers[tt.kind].FindStringSubmatch(text)
		row := doc.row(tt.table, tt.column, tt.row)
		if m == nil || row == nil {
			t.Errorf("%v: the answer has another form: %s", tt.files, text)
			continue
		}
		c := &checker{T: t, doc: doc, fig: &picture{ID: "answer", Sentence: text}, groups: map[string]string{}}
		for i, name := range answers[tt.kind].SubexpNames() {
			if name != "" && m[i] != "" {
				c.groups[name] = m[i]
			}
		}
		cell := func(name string) float64 {
			v, ok := row[name].(float64)
			if !ok {
				return math.NaN()
			}
			return v
		}
		c.equal("cost", cell("Cost a year"))
		c.equal("lo", cell("Cost a year, low"))
		c.equal("hi", cell("Cost a year, high"))
		c.equal("wait", cell("Wait p95"))
		c.equal("mean", cell("Mean wait"))
		c.equal("hours", cell("Job-hours waited"))
		c.equal("waitlo", cell("Wait p95, low"))
		c.equal("waithi", cell("Wait p95, high"))
		c.equal("held", cell("Limits held"))
		if (c.groups["all"] != "") != (cell("Work not served") == 0) {
			t.Errorf("%v: %v of the work is not served: %s", tt.files, cell("Work not served"), text)
		}
		if c.groups["undone"] != "" && !strings.Contains(text, "all but under") {
			c.equal("undone", cell("Work not served"))
		}
		for _, f := range doc.Figures {
			if f.ID == "cost-by-reserved" && tt.kind == "mix" {
				s := f.Series[0]
				i := s.Chosen[0]
				c.equal("gpus", float64(s.X[i]))
				c.fig.Marks = f.Marks
				c.equal("bound", c.mark("y"))
				c.equal("gap", float64(s.Y[i])/c.mark("y")-1)
			}
		}
		if owed := doc.row("commitments", "Commitment", "Total"); owed != nil && tt.kind == "mix" {
			c.equal("owed", owed["For the time after"].(float64))
		}
	}
}

// TestWorstOrders: what could lead to a wrong order is said before the answer, or is refused.
func TestWorstOrders(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		spoil map[string]func(doc map[string]any)
		want  string // at the begin of the answer
	}{
		{"a plan without a feasible mix", []string{"none"}, nil, "No mix that was tried holds the limits in 95.0% of 2 runs, so there is nothing to order; the limit wait_p95 <= 1s binds"},
		{"partial plan", []string{"mix"}, map[string]func(map[string]any){"mix": func(d map[string]any) { d["partial"] = "the search was stopped after 3 of 9 mixes" }}, "PARTIAL: the search was stopped after 3 of 9 mixes. Commit to"},
		{"partial runs", []string{"run-week"}, map[string]func(map[string]any){"run-week": func(d map[string]any) {
			d["partial"] = map[string]any{"runs_done": 2, "runs_asked": 20, "why": "interrupted"}
		}}, "PARTIAL: week/easy/count has 2 of 20 runs (interrupted). The plan"},
		{"work left undone", []string{"mix"}, map[string]func(map[string]any){"mix": func(d map[string]any) { d["best"].(map[string]any)["unserved_share"] = 0.31 }}, "NOT SERVED: the plan leaves 31.0% of the work undone. Commit to"},
		{"runs that leave work undone", []string{"run-week"}, map[string]func(map[string]any){"run-week": eachRun(func(r map[string]any) { r["unserved_share"] = 0.31 })}, "NOT SERVED: week/easy/count leaves 31.0% of the work undone. "},
		{"a broken promise", []string{"run-services"}, map[string]func(map[string]any){"run-services": eachRun(func(r map[string]any) {
			p := r["services"].([]any)[0].(map[string]any)["promise"].(map[string]any)
			p["kept"], p["share"] = false, 0.921
		})}, "PROMISE BROKEN: chat answers 92.1% of its requests in time, of 99.0% promised (services/fifo/count). "},
		{"late requests", []string{"run-services"}, map[string]func(map[string]any){"run-services": eachRun(func(r map[string]any) {
			s := r["services"].([]any)[1].(map[string]any)
			s["promise"], s["late"], s["requests"] = nil, 50, 1000
		})}, "LATE REQUESTS: code serves 5.0% of its requests late or not at all (services/fifo/count). "},
		{"runs without a price", []string{"run-week"}, map[string]func(map[string]any){"run-week": eachRun(func(r map[string]any) {
			c := r["cost"].(map[string]any)
			c["total_usd"], c["total_per_year_usd"], c["total_usd_why"] = nil, nil, "the pool base has no price"
		})}, "NO PRICE: the cost of week/easy/count is not known. The plan week/easy/count has no known cost;"},
		{"a plan without a price", []string{"none"}, map[string]func(map[string]any){"none": func(d map[string]any) {
			d["closest"], d["binding_limit"] = nil, nil
			d["without_a_price"] = []any{map[string]any{"mix": 1, "cannot_be_priced": "the pool base has no price"}}
		}}, "No mix has a price, so there is nothing to order: the pool base has no price."},
		{"other jobs", []string{"run-week", "run-log"}, nil, "DIFFERENT JOBS: week/easy/count replays generated and log/fifo/count replays "},
		{"a plan for other jobs", []string{"logmix", "run-week"}, nil, "DIFFERENT JOBS: the plan is for the jobs of "},
		{"another time", []string{"run-week", "run-small"}, map[string]func(map[string]any){"run-small": eachRun(func(r map[string]any) { r["start"] = "2026-03-01T00:00:00Z" })}, "DIFFERENT JOBS: week/easy/count begins on 2027-03-01 and small/easy/count on 2026-03-01. The runs cannot be compared"},
		{"other lengths", []string{"run-week", "run-small"}, map[string]func(map[string]any){"run-small": eachRun(func(r map[string]any) { r["length_s"] = 604800 })}, "DIFFERENT LENGTHS: the runs last 7 days to 14 days, so amounts are of a year. Of 2 plans"},
		{"two plans", []string{"mix", "logmix"}, nil, "DIFFERENT PLANS: mix.json is of week on generated, and logmix.json of log on "},
	}
	for _, tt := range tests {
		p, err := paper.Make(spoiled(t, tt.files, tt.spoil))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if !strings.HasPrefix(p.Answer.Sentence, tt.want) {
			t.Errorf("%s: the answer begins otherwise:\n%s\nwant %s", tt.name, p.Answer.Sentence, tt.want)
		}
		if strings.Contains(tt.name, "other jobs") || tt.name == "another time" {
			for _, f := range p.Figures {
				if strings.HasPrefix(f.ID, "waterfall") && len(tt.files) == 2 && tt.files[0] == "run-week" {
					t.Errorf("%s: %s sets them against each other", tt.name, f.ID)
				}
			}
		}
	}
}

// eachRun changes every run of a result.
func eachRun(change func(run map[string]any)) func(map[string]any) {
	return func(d map[string]any) {
		for _, r := range d["runs"].([]any) {
			change(r.(map[string]any))
		}
	}
}

// spoiled returns a request with changed results.
func spoiled(t *testing.T, files []string, spoil map[string]func(map[string]any)) *paper.Request {
	t.Helper()
	r := &paper.Request{Version: "test"}
	for _, name := range files {
		text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		if change := spoil[name]; change != nil {
			var doc map[string]any
			if err := json.Unmarshal(text, &doc); err != nil {
				t.Fatal(err)
			}
			change(doc)
			if text, err = json.Marshal(doc); err != nil {
				t.Fatal(err)
			}
		}
		r.Files = append(r.Files, paper.File{Name: name + ".json", Text: text})
	}
	return r
}

// TestMakeRefuses: what is no result, and what cannot be compared, is refused with its file.
func TestMakeRefuses(t *testing.T) {
	run := `{"schema": "capcli/simulate/v1", "currency": "USD", "runs": [{"length_s": 60}]}`
	for _, tt := range []struct {
		name  string
		texts []string
		want  string
	}{
		{"nothing", nil, "results wants saved results, found none"},
		{"no JSON", []string{"job_id,gpus"}, "a: expected a saved result of"},
		{"another document", []string{`{"schema": "capcli/bill/v1"}`}, `a: expected a saved result of capcli simulate, plan, decide, forecast or validate, found the schema "capcli/bill/v1"; have capcli/decide/v1, capcli/forecast/v1, `},
		{"no runs", []string{`{"schema": "capcli/simulate/v1", "runs": []}`}, "a: runs: expected a run, found none"},
		{"no length", []string{`{"schema": "capcli/simulate/v1", "runs": [{}]}`}, "a: length_s: expected a run of some length"},
		{"currencies", []string{run, strings.Replace(run, "USD", "EUR", 1)}, `b: currency: expected amounts in USD as in the results before it, found "EUR"`},
		{"euros", []string{strings.Replace(run, "USD", "EUR", 1)}, `a: currency: expected amounts in USD, found "EUR"`},
		{"an empty plan", []string{`{"schema": "capcli/plan_mix/v1"}`}, "a: expected a saved result of capcli simulate, plan, decide, forecast or validate, found a plan without a mix"},
		{"a plan without futures", []string{`{"schema": "capcli/plan_futures/v1"}`}, "found a plan without futures"},
		{"uneven", []string{`{"schema": "capcli/forecast/v1", "series": [{"ds": ["2027-01-01"], "mean": []}]}`}, "found 0 values for 1 steps"},
	} {
		r := &paper.Request{}
		for i, text := range tt.texts {
			r.Files = append(r.Files, paper.File{Name: string(rune('a' + i)), Text: []byte(text)})
		}
		_, err := paper.Make(r)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
		}
		if _, input := errors.AsType[*capcli.InputError](err); !input && tt.texts != nil {
			t.Errorf("%s: %T", tt.name, err)
		}
	}
}

// TestOrderOfFiles: the answer and the figures do not depend on the order of results of different
// kinds.
func TestOrderOfFiles(t *testing.T) {
	a, b := makePaper(t, "mix", "run-week", "forecast", "futures"), makePaper(t, "futures", "run-week", "mix", "forecast")
	a.Inputs, b.Inputs, a.Assumptions, b.Assumptions = nil, nil, nil, nil
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	if errX != nil || errY != nil || string(x) != string(y) {
		t.Errorf("the order of the files changes the paper:\n%.600s\n%.600s", x, y)
	}
}

// FuzzMake: any bytes are refused or make a paper whose figures can be drawn and whose document can be
// written.
func FuzzMake(f *testing.F) {
	for _, name := range []string{"none", "curve", "forecast", "played", "futures"} {
		text, err := os.ReadFile(filepath.Join("testdata", name+".json"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte(`{"schema": "capcli/simulate/v1", "currency": "USD", "runs": [{"length_s": 60, "cost": {"total_usd": "1.00"}, "tenants": [{"tenant": "=x", "direct_usd": "1.00", "stranded_share_usd": "0.00"}]}]}`))
	f.Add([]byte(`{"schema": "capcli/validate/v1"}`))
	f.Add([]byte(`{"schema": "capcli/plan_joint/v1"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := paper.Make(&paper.Request{Files: []paper.File{{Name: "a", Text: text}}})
		if err != nil {
			return
		}
		if _, err := json.Marshal(p); err != nil {
			t.Fatal(err)
		}
		if p.Answer.Sentence == "" && !strings.Contains(string(text), "validate") {
			t.Errorf("a paper without an answer")
		}
		for i := range p.Figures {
			p.Figures[i].Table()
		}
	})
}

// FuzzCheck: any bytes are refused or compared.
func FuzzCheck(f *testing.F) {
	f.Add([]byte(`{"schema": "capcli/report/v1", "inputs": [{"file": "a", "sha256": "0"}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		_, _ = paper.Check(openTestdata, "x", text, "test")
	})
}
