package scenarios

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"capcli"
	"capcli/scenarios/money/prices"
	"capcli/scenarios/strict"
	"capcli/simulate"
)

// FuzzParse: whatever the bytes, either faults that point into the file, or a
// scenario that gives a run whose parts are in their limits.
func FuzzParse(f *testing.F) {
	f.Add([]byte(full), "capacity[0].gpus=72")
	f.Add([]byte(reserve64), "policy=easy")
	f.Add([]byte(Template()), "jobs.generate.classes[0].run_p95=3h")
	f.Add([]byte("capcli: scenario/v1\ncapacity: [{kind: spot, nodes_file: a, price: 1, availability: {file: b, polarity: available}}]"), "overflow.patience=never")
	f.Add([]byte("capcli: scenario/v1\nperiod: 2027-01-01 to 2027-01-28\ncapacity:\n- {kind: capacity_block, gpus: 8, price: 3, from: 2027-01-04, until: 2027-01-05}\n- {kind: on_demand, price: 4, gpu_model: A}\n- {kind: cud, gpus: 3, term: 3y, price: 2}\ncommitments: [{id: sp, product: savings_plan, from: 2027-01-01, term: 1y, commit: 6, payment: partial, rates: [{gpu_model: a, discount: 25%}]}]\n"), "capacity[2].kind=capacity_reservation")
	f.Add([]byte("capcli: scenario/v1\nperiod: 2027-01-01 to 2027-01-28\ncapacity:\n- {kind: on_demand, price: 4, max_gpus: 8, place: gcp/r}\n- {name: b, kind: cud, gpus: 3, term: 3y, price: 2, until: 9d, place: gcp/r}\n- {kind: reserved, fenced: false, gpus: 8, gpu_model: A, price: 3, upfront: all, term: 1mo}\n"), "capacity.b.gpus=1000000")
	f.Add([]byte("a: &x [*x]\n<<: {b: !!int 1}\n? [c]\n: d\n---\n"), "[0]=1")
	f.Add([]byte("\t- {"), "=")
	f.Add([]byte("\u0085\u067e"), "\xc2") // line breaks that only YAML knows
	for _, name := range Names() {
		b, _ := Library(name)
		f.Add(b, "seed=7")
	}
	f.Fuzz(func(t *testing.T, b []byte, set string) {
		for _, sets := range [][]string{nil, {set}} {
			s, err := Parse("fuzz.yaml", b, sets...)
			if err != nil {
				checkFaults(t, err, b)
				continue
			}
			checkScenario(t, s)
		}
	})
}

func checkFaults(t *testing.T, err error, b []byte) {
	var f *strict.Faults
	if !errors.As(err, &f) || len(f.List) == 0 {
		t.Fatalf("got %v, want faults", err)
	}
	lines := 1 + len(lineBreak.FindAllIndex(b, -1))
	for _, x := range f.List {
		if x.Text == "" || x.Line < 0 || x.Line > lines || (x.Line > 0 && x.Col < 1) || (x.Set != "" && x.Line != 0) {
			t.Errorf("fault %+v points nowhere in %d lines", x, lines)
		}
	}
	text := err.Error()
	if !utf8.ValidString(text) || strings.IndexFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' }) >= 0 {
		t.Errorf("the message is no plain text: %q", text)
	}
	if n := strings.Count(text, "\n"); n > 4*20+5 {
		t.Errorf("the message has %d lines", n)
	}
}

var lineBreak = regexp.MustCompile("\r\n|[\r\n\u0085\u2028\u2029]")

func checkScenario(t *testing.T, s *Scenario) {
	open := func(name string) ([]byte, error) {
		return nil, errors.New("no file " + name)
	}
	c, err := s.Config(nil, Options{Open: open})
	if err != nil {
		if !strings.Contains(err.Error(), "no file ") {
			t.Errorf("a valid scenario gives no run: %v", err)
		}
		return
	}
	names := map[string]bool{}
	for _, p := range c.Pools {
		if p.Capacity() < 0 || p.Capacity() > maxGPUs || p.Nodes < 1 || p.From < 0 || p.Until < 0 || p.Name == "" || names[p.Name] {
			t.Errorf("pool %+v is out of its limits", p)
		}
		names[p.Name] = true
	}
	rates, err := s.Rates(Options{Open: open})
	if err != nil || len(rates) != len(c.Pools) {
		t.Errorf("got %d rates for %d pools, %v", len(rates), len(c.Pools), err)
	}
	for _, r := range rates {
		if r.Price < 0 || r.Price > prices.Dearest || r.OnDemand < 0 {
			t.Errorf("rate %+v is out of its limits", r)
		}
	}
	if c.Policy == nil || c.Placement == nil || c.Until < 0 || c.Until > strict.Longest {
		t.Errorf("the run lacks something: %+v", c)
	}
	for _, p := range c.Overflow.Patience {
		if p.Wait < Never || p.PerHour < 0 {
			t.Errorf("patience %+v", p)
		}
	}
	for _, k := range c.Restarts.Classes {
		if k.Interval < 0 || k.Cost < 0 || k.Restart < 0 || k.MaxGPUs < 0 {
			t.Errorf("restart class %+v", k)
		}
	}
	if c.Restarts.Mode > simulate.Scratch {
		t.Errorf("mode %d", c.Restarts.Mode)
	}
	before := s.Seed
	if err := s.Set("seed", "77"); err != nil || s.Seed != 77 {
		t.Errorf("setting the seed of a valid scenario: %v, seed %d, was %d", err, s.Seed, before)
	}
}

// FuzzParseMarket: a market is read whole or refused with places, and each of its offers
// can be bought.
func FuzzParseMarket(f *testing.F) {
	f.Add([]byte("capcli: market/v1\nevery: 1d\ngpus: [{gpu_model: a, on_demand: 4, lot: 8}]\noffers:\n- {product: owned, gpu_model: a, term: 4d, machine: {capital: 5}}\n- {product: savings_plan, term: 1d, rates: [{discount: 5%}]}\n"))
	f.Add([]byte("capcli: market/v1\ngpus: [{gpu_model: a, on_demand: 4}]\noffers: [{product: reserved_capacity, gpu_model: a, term: 2d, price: 1, extend: {term: 1d, price: 1}, terminate: {every: 1d, fee: 50%}}]\n"))
	f.Add([]byte("capcli: market/v1\ngpus: [{gpu_model: a, on_demand: 4}, {gpu_model: b, on_demand: 4}]\nmoves: [{from: a, to: b, speed: 2.5, share: 30%}, {from: b, to: a, speed: 0.4}]\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := ParseMarket("fuzz.yaml", b)
		if err != nil {
			checkFaults(t, err, b)
			return
		}
		for i := range m.Offers {
			o := &m.Offers[i]
			plan := o.Model < 0
			covers := slices.ContainsFunc(o.Rates, func(r capcli.Rate) bool { return r > 0 })
			switch {
			case o.Model >= len(m.GPUs), plan && (len(o.Rates) != len(m.GPUs) || !covers || len(o.Exits) > 0 || o.Extend.Length() > 0):
				t.Errorf("an offer of no model: %+v", o)
			case o.Length.Length() <= 0, o.Rate < 0, o.Max < 0, o.ExtendRate < 0, o.Fixed && !o.From.IsKnown():
				t.Errorf("an offer that cannot be bought: %+v", o)
			}
			for _, x := range o.Exits {
				if x.Share < 0 || x.Share > 1_000_000 || x.After.Length() <= 0 {
					t.Errorf("exit %+v of %s", x, o.Name)
				}
			}
		}
		taken := make([]int64, len(m.GPUs))
		for _, x := range m.Moves {
			if taken[x.From] += x.Share; taken[x.From] > 1_000_000 || x.From == x.To || x.Speed <= 0 || x.Share <= 0 {
				t.Errorf("move %+v", x)
			}
		}
	})
}
