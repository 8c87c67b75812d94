package widths

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"capcli"
	"capcli/profile/logs/trace"
)

// openText returns an opener of files in memory.
func openText(files map[string]string) trace.Opener {
	return func(name string) (trace.Input, io.Closer, error) {
		text, ok := files[name]
		if !ok {
			return trace.Input{}, nil, fmt.Errorf("no file %s", name)
		}
		return trace.Input{Name: name, R: strings.NewReader(text)}, io.NopCloser(nil), nil
	}
}

// rates is a table made for the tests: not monotone, a job that does not run on one model, and a second job.
const rates = `gpu_model,consolidated,job_type,gpus,steps_per_s
V100,1,small,1,10
V100,1,small,2,19
V100,1,small,4,18
V100,0,small,4,12
K80,1,small,1,0
K80,1,small,2,3.5
K80,1,large,2,1
T4,1,small,1,4
`

func TestPlan(t *testing.T) {
	tests := []struct {
		name    string
		ask     Request
		options int
		plan    string
		says    string
		fault   string
	}{
		{
			"the wide one is in time",
			Request{Times: []string{"64=8h,16=32h"}, Price: []string{"H100=2.5"}, Deadline: "24h"},
			2, "64 H100", "Run on 64 H100: 8h00m for $1,280.00, the cheapest of 2 options that ends within 24h00m.", "",
		},
		{
			"no option is in time",
			Request{Times: []string{"64=8h,16=32h"}, Price: []string{"H100=2.5"}, Deadline: "7h"},
			2, "", "No option ends within 7h00m; the fastest, 64 H100, takes 8h00m: 1h00m too long, for $1,280.00.", "",
		},
		{
			"in time, but over the budget",
			Request{Times: []string{"64=8h,16=28h"}, Price: []string{"H100=2.5"}, Deadline: "24h", Budget: "1200"},
			2, "", "No option ends within 24h00m for $1,200.00; the cheapest in time, 64 H100, costs $1,280.00: $80.00 over the budget; the fastest within it, 16 H100, takes 28h00m: 4h00m too long.", "",
		},
		{
			"a budget alone",
			Request{Times: []string{"64=8h,16=28h"}, Price: []string{"H100=2.5"}, Budget: "1.2k"},
			2, "16 H100", "Run on 16 H100: 28h00m for $1,120.00, the fastest of 2 options within $1,200.00. 20h00m earlier costs $160.00 more (64 H100), $8.00 an hour.", "",
		},
		{
			"two models",
			Request{Times: []string{"H100:24=8h", "A100:48=9h"}, Price: []string{"H100=3.9,A100=1.8"}},
			2, "24 H100", "cheapest of 2 options; 48 A100: $28.80 more, 1h00m later, cheaper below $1.73 a GPU-hour (now $1.80).", "",
		},
		{
			"Amdahl's law",
			Request{Amdahl: "10%", OneGPU: "10h", Widths: "1..4", Price: []string{"A=1"}, Most: []string{"a=3"}, Deadline: "5h30m"},
			3, "2 A", "Run on 2 A: 5h30m for $11.00", "",
		},
		{
			"rates of a table",
			Request{Table: "r.csv", JobType: "small", Where: []string{"consolidated=1"}, Steps: 36000, Price: []string{"v100=2", "K80=0.5"}},
			4, "1 v100", "Run on 1 v100: 1h00m for $2.00, the cheapest of 4 options; 2 K80: $0.86 more, 1h51m later, cheaper below $0.35", "",
		},
		{"no model", Request{Times: []string{"64=8h"}}, 0, "", "", "--price is missing"},
		{"no times", Request{Price: []string{"A=1"}}, 0, "", "", "give --times, --amdahl or --measured"},
		{"two sources", Request{Price: []string{"A=1"}, Times: []string{"1=1h"}, Amdahl: "1"}, 0, "", "", "from one source, found --times and --amdahl"},
		{"a model without a price", Request{Times: []string{"B:64=8h"}, Price: []string{"A=1"}}, 0, "", "", `times names "B", which has no price: have A`},
		{"a price without times", Request{Times: []string{"A:64=8h"}, Price: []string{"A=1,B=1"}}, 0, "", "", "times has no run time for B, which has a price"},
		{"a count twice", Request{Times: []string{"64=8h,64=9h"}, Price: []string{"A=1"}}, 0, "", "", "times has 64 A twice"},
		{"too few GPUs", Request{Times: []string{"64=8h"}, Price: []string{"A=1"}, Most: []string{"A=8"}}, 0, "", "", "every option takes more GPUs than there are"},
		{"a share over 1", Request{Amdahl: "1.5", OneGPU: "1h", Widths: "1", Price: []string{"A=1"}}, 0, "", "", "wants a serial share from 0 to 1"},
		{"a falling range", Request{Amdahl: "0", OneGPU: "1h", Widths: "8..1", Price: []string{"A=1"}}, 0, "", "", "wants a rising range"},
		{"rates without steps", Request{Table: "r.csv", Price: []string{"V100=2"}}, 0, "", "", "steps is missing: r.csv has rates"},
		{"two rows for one option", Request{Table: "r.csv", JobType: "small", Steps: 9, Price: []string{"V100=2"}}, 0, "", "", "r.csv: line 5: V100 on 4 GPUs is in line 4 too"},
		{"a job that the table lacks", Request{Table: "r.csv", JobType: "huge", Steps: 9, Price: []string{"V100=2"}}, 0, "", "", `r.csv: job_type: no row has "huge"`},
		{"a model that the table lacks", Request{Table: "r.csv", JobType: "large", Steps: 9, Price: []string{"V100=2"}}, 0, "", "", "r.csv: gpu_model: no row with a run time for V100"},
		{"a column that the table lacks", Request{Table: "r.csv", Where: []string{"batch=1"}, Steps: 9, Price: []string{"V100=2"}}, 0, "", "", "r.csv: line 1: batch: the header has no such column"},
		{"a job that runs nowhere", Request{Table: "zero.csv", Steps: 9, Price: []string{"K80=2"}}, 0, "", "", "zero.csv: gpu_model: no row with a run time for K80"},
		{"a rate below 0", Request{Table: "minus.csv", Steps: 9, Price: []string{"K80=2"}}, 0, "", "", "minus.csv: line 2: steps_per_s: wants a run time over 0"},
		{"an empty table", Request{Table: "empty.csv", Price: []string{"K80=2"}}, 0, "", "", "empty.csv: expected a header line, found none"},
	}
	open := openText(map[string]string{
		"r.csv": rates, "empty.csv": "", "zero.csv": "gpu_model,gpus,steps_per_s\nK80,1,0\n", "minus.csv": "gpu_model,gpus,steps_per_s\nK80,1,-1\n",
	})
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			r, err := test.ask.Plan(open)
			if test.fault != "" {
				if err == nil || !strings.Contains(err.Error(), test.fault) {
					t.Fatalf("got %v, want %q", err, test.fault)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Options) != test.options || !strings.Contains(r.Says, test.says) {
				t.Errorf("%d options, want %d; got %q\nwant %q", len(r.Options), test.options, r.Says, test.says)
			}
			plan := r.Plan()
			if (plan == nil) != (r.NoPlan() != nil) || plan == nil && test.plan != "" || plan != nil && NameOption(plan) != test.plan {
				t.Errorf("plan %v, %v, want %q", plan, r.NoPlan(), test.plan)
			}
			if err := r.NoPlan(); err != nil && !errors.Is(err, capcli.NoPlan) {
				t.Errorf("no plan is %v", err)
			}
		})
	}
}

// TestRowsLeftOut checks that rates of 0 and models without a price are named.
func TestRowsLeftOut(t *testing.T) {
	ask := Request{Table: "r.csv", JobType: "small", Where: []string{"consolidated=1"}, Steps: 36000, Price: []string{"v100=2", "K80=0.5"}}
	r, err := ask.Plan(openText(map[string]string{"r.csv": rates}))
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(r.Notes, "\n")
	for _, want := range []string{"does not run on 1 K80", "left out: T4"} {
		if !strings.Contains(notes, want) {
			t.Errorf("no %q in %q", want, notes)
		}
	}
}

// TestBreakEven holds the price at which a rival wins against its closed form: cost of the plan over the
// GPU-hours of the rival. One millionth below it the rival is the plan, one above it is not.
func TestBreakEven(t *testing.T) {
	plan := func(price string) *Result {
		t.Helper()
		r, err := (&Request{Times: []string{"H100:24=29000s", "A100:48=32410s"}, Price: []string{"H100=3.9", "A100=" + price}}).Plan(nil)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := plan("1.8")
	want := capcli.Rate(3_900_000 * 24 * 29000 / (48 * 32410))
	if len(r.Rivals) != 1 || r.Rivals[0].BreakEven != want || r.Plan().Model != "H100" {
		t.Fatalf("rivals %v, want a break-even of %s", r.Rivals, want.Decimal())
	}
	if got := plan(want.Decimal()).Plan().Model; got != "A100" {
		t.Errorf("at %s the plan is on %s", want.Decimal(), got)
	}
	if got := plan((want + 1).Decimal()).Plan().Model; got != "H100" {
		t.Errorf("at %s the plan is on %s", (want + 1).Decimal(), got)
	}
}

// TestDominated holds the frontier against its definition, on options drawn at random.
func TestDominated(t *testing.T) {
	rng := capcli.Seed(2).Stream("options")
	for range 300 {
		ask := Request{Price: []string{"A=1,B=2"}}
		for _, m := range []string{"A", "B"} {
			var parts []string
			for n := 1; n <= 1+rng.IntN(5); n++ {
				parts = append(parts, fmt.Sprintf("%d=%dm", n, 1+rng.IntN(12)))
			}
			ask.Times = append(ask.Times, m+":"+strings.Join(parts, ","))
		}
		r, err := ask.Plan(nil)
		if err != nil {
			t.Fatal(err)
		}
		onFront := map[int]bool{}
		for _, i := range r.Frontier {
			onFront[i] = true
		}
		for i := range r.Options {
			o := &r.Options[i]
			beaten := false
			for k := range r.Options {
				p := &r.Options[k]
				beaten = beaten || p.Run <= o.Run && p.Cost <= o.Cost && (p.Run < o.Run || p.Cost < o.Cost)
			}
			if by := o.DominatedBy; beaten != (by != nil) || by != nil && (!onFront[*by] || r.Options[*by].Run > o.Run || r.Options[*by].Cost > o.Cost) || beaten && onFront[i] {
				t.Fatalf("option %d of %v: dominated by %v, on the frontier %v, beaten %v", i, r.Options, by, onFront[i], beaten)
			}
		}
		costs, _, _ := r.CostByTime(20)
		first, last := r.Options[r.Frontier[0]], r.Options[r.Frontier[len(r.Frontier)-1]]
		if costs[0] != first.Cost.Float() || costs[19] != last.Cost.Float() {
			t.Fatalf("costs %v of %v", costs, r.Options)
		}
	}
}

// FuzzTable reads any text as a table: it returns options or an error, and each option is of a row.
func FuzzTable(f *testing.F) {
	f.Add(rates, "small", "consolidated=1")
	f.Add("gpu_model;gpus;run_s\nA;1;1e3\n", "", "")
	f.Add("gpu_model,gpus,run_s\nA,1,\"2\n", "", "")
	f.Fuzz(func(t *testing.T, text, job, where string) {
		ask := Request{Table: "t", JobType: job, Price: []string{"V100=2,A=1"}, Steps: 100}
		if where != "" {
			ask.Where = []string{where}
		}
		if strings.Contains(text, "run_s") {
			ask.Steps = 0
		}
		r, err := ask.Plan(openText(map[string]string{"t": text}))
		if err != nil {
			return
		}
		for _, o := range r.Options {
			if o.Run < 1 || o.GPUs < 1 || o.Cost < 0 {
				t.Fatalf("option %v", o)
			}
		}
	})
}

// FuzzTimes parses any text as run times.
func FuzzTimes(f *testing.F) {
	f.Add("64=8h,16=32h", "A=1", "1..4:2")
	f.Add("A:1=1s", "A=1,B=2", "1,2")
	f.Fuzz(func(_ *testing.T, times, price, widths string) {
		_, _ = (&Request{Times: []string{times}, Price: []string{price}, Deadline: "1h"}).Plan(nil)
		_, _ = (&Request{Amdahl: times, OneGPU: "1h", Widths: widths, Price: []string{price}, Budget: times}).Plan(nil)
	})
}
