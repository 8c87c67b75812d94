package scenarios

import (
	"strings"
	"testing"

	"capcli"
	"capcli/scenarios/money/billing"
)

// floats returns the names of the pools that float.
func floats(s *Scenario) string {
	var out []string
	for i := range s.Capacity {
		if s.Capacity[i].Floats {
			out = append(out, s.Capacity[i].Name)
		}
	}
	return strings.Join(out, " ")
}

// What floats: by its kind, by its price's row, by what the pool says, and only beside an on_demand pool
// that can run its jobs.
func TestWhatFloats(t *testing.T) {
	const od = "name: od, kind: on_demand, gpu_model: H100, price: 11"
	base := func(fields string) string { return "name: base, gpus: 8, gpu_model: H100, " + fields }
	tests := []struct {
		name  string
		pools []string
		want  string
	}{
		{"cud", []string{base("kind: cud, price: 2"), od}, "base"},
		{"cud that is a place", []string{base("kind: cud, price: 2, fenced: true"), od}, ""},
		{"reserved at a price", []string{base("kind: reserved, price: 2"), od}, ""},
		{"reserved at a price that floats", []string{base("kind: reserved, price: 2, fenced: false"), od}, "base"},
		{"a hyperscaler's term", []string{base("kind: reserved, price: gcp/us-central1/h100/1y"), od}, "base"},
		{"the same, fenced", []string{base("kind: reserved, fenced: true, price: gcp/us-central1/h100/1y"), od}, ""},
		{"a hyperscaler's block", []string{base("kind: reserved, price: aws/us-east-1/p5.48xlarge/block"), od}, ""},
		{"no on_demand pool", []string{base("kind: cud, price: 2")}, ""},
		{"on demand of another model", []string{base("kind: cud, price: 2"), "name: od, kind: on_demand, gpu_model: A100, price: 4"}, ""},
		{"on demand of any model", []string{base("kind: cud, price: 2"), "name: od, kind: on_demand, price: 4"}, "base"},
		{"spot alone", []string{base("kind: cud, price: 2"), "name: sp, kind: spot, max_gpus: 8, gpu_model: H100, price: 1"}, ""},
		{"serverless alone", []string{base("kind: cud, price: 2"), "name: sl, kind: per_use, gpu_model: H100, price: 4"}, ""},
		{"on demand of another partition", []string{base("kind: cud, price: 2"), od + ", partition: x"}, ""},
		{"on demand of its partition", []string{base("kind: cud, price: 2, partition: x"), od + ", partition: x"}, "base"},
		{"in another region", []string{base("kind: cud, price: 2, place: gcp/us-central1"), od + ", place: gcp/europe-west4"}, ""},
		{"with machines of its own", []string{"name: base, kind: cud, nodes: 1, gpus_per_node: 8, gpu_model: H100, price: 2, failures: {mtbf: 9d, repair: 1h}", od}, ""},
		{"of nodes", []string{"name: base, kind: cud, nodes: 1, gpus_per_node: 8, gpu_model: H100, price: 2", od}, "base"},
		{"sold as another model", []string{"name: base, kind: reserved, gpus: 8, price: gcp/us-central1/h100/1y", "name: od, kind: on_demand, price: gcp/us-central1/a2-highgpu-1g/on_demand"}, ""},
		{"owned", []string{base("kind: owned, price: 2"), od}, ""},
		{"the first of two models on one pool without a model", []string{
			base("kind: cud, price: 2"), "name: b2, kind: cud, gpus: 8, gpu_model: A100, price: 1", "name: od, kind: on_demand, price: 4",
		}, "base"},
	}
	for _, tt := range tests {
		s := parsed(t, pools(tt.pools...))
		if got := floats(s); got != tt.want {
			t.Errorf("%s: %q floats, want %q", tt.name, got, tt.want)
		}
	}
}

// A pool that says both, or says fenced where it decides nothing, is refused.
func TestFencedIsChecked(t *testing.T) {
	for pool, want := range map[string]string{
		"kind: owned, gpus: 8, price: 1, fenced: false":                                                        "owned is a place always",
		"kind: capacity_reservation, gpus: 8, price: 1, fenced: false":                                         "is a place always",
		"kind: on_demand, price: 1, fenced: true":                                                              "it is paid while held",
		"kind: reserved, nodes: 1, gpus_per_node: 8, price: 1, fenced: false, domains: [{level: r, nodes: 1}]": "leave out domains",
	} {
		_, err := Parse("s.yaml", []byte(pools(pool)))
		if want = strings.Replace(want, "it is paid", "on_demand is paid", 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", pool, err, want)
		}
	}
}

// The size of a pool that floats is in no schedule, but for the limit of on-demand capacity that it adds
// to. Its product, its dates and its unit are what plans solve with.
func TestFloatingPoolsForPlans(t *testing.T) {
	od := func(model string) string {
		return "name: od-" + model + ", kind: on_demand, gpu_model: " + model + ", price: 4"
	}
	key := func(s *Scenario, overrides ...string) string {
		changed, err := s.With(overrides...)
		if err != nil {
			t.Fatal(err)
		}
		k, err := changed.ScheduleKey()
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	s := parsed(t, pools(
		"name: base, kind: reserved, gpus: 8, gpu_model: H100, term: 1y, price: gcp/us-central1/h100/1y",
		"name: od, kind: on_demand, gpu_model: H100, price: gcp/us-central1/h100/on_demand",
	))
	if key(s) != key(s, "capacity.base.gpus=64") || key(s) != key(s, "capacity.base.until=2027-06-30") || key(s) != key(s, "capacity.base.price=gcp/us-central1/h100/3y") {
		t.Error("the size, the end or the price of a pool that floats is in the schedule's key")
	}
	if key(s) == key(s, "capacity.base.fenced=true") || key(s) == key(s, "capacity.od.max_gpus=64") {
		t.Error("a place, or a limit, is not in the schedule's key")
	}
	if key(s, "capacity.od.max_gpus=64") == key(s, "capacity.od.max_gpus=64", "capacity.base.gpus=9") {
		t.Error("GPUs that Google guarantees add to the limit, and are not in the schedule's key")
	}
	start, end := s.Period.Start, s.Period.End
	list, err := s.FloatingPools(start, end)
	if err != nil || len(list) != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
	f := list[0]
	if _, is := f.Unit.Product.(billing.CommittedUse); !is || f.Name != "base" || f.GPUs != 8 || f.Term != "1y" || f.Limits || strings.Join(f.Covers, " ") != "od" || s.SizePath(f.Pool) != "capacity.base.gpus" {
		t.Errorf("got %+v, sized by %s", f, s.SizePath(f.Pool))
	}
	if got := f.Unit.Fees.Hourly.Decimal(); got != "7.672959" || f.Unit.Start != start || f.Unit.End != capcli.Time(1830297600) {
		t.Errorf("a GPU costs %s an hour, from %s to %s", got, f.Unit.Start, f.Unit.End)
	}
	sold := parsed(t, pools("name: base, kind: reserved, gpus: 8, price: gcp/us-central1/h100/1y", od("H100"), od("A100")))
	if list, err := sold.FloatingPools(start, end); err != nil || len(list) != 1 || strings.Join(list[0].Covers, " ") != "od-H100" {
		t.Errorf("sold as H100: %+v, %v", list, err)
	}
	for price, want := range map[string]string{
		"aws/us-east-1/p5.48xlarge/on_demand": "", "aws/us-east-1/p4d.24xlarge/1y": "reserved_instance",
	} {
		s := parsed(t, pools("name: base, kind: reserved, gpus: 8, fenced: false, price: "+price, "name: od, kind: on_demand, price: 4"))
		if list, err = s.FloatingPools(start, end); err != nil || want != "" && list[0].Unit.Product.Name() != want {
			t.Errorf("%s: %+v, %v", price, list, err)
		}
	}
}

// A price file decides what its terms do, by its rows or, of a seller whom nobody knows, by their being
// terms. Overrides after the file was read know it too.
func TestPriceFileSaysWhatFloats(t *testing.T) {
	const head = "provider,region,machine,gpu,gpus,term,usd_per_hour,date,source,fenced\n"
	for said, want := range map[string]string{"": "base", "false": "base", "true": ""} {
		list := head + "own,here,box,H100,8,1y,16,2026-01-01,contract," + said + "\n"
		s := parsed(t, "prices: own.csv\n"+pools("name: base, kind: reserved, gpus: 8, price: own/here/box/1y", "name: od, kind: on_demand, price: 4"))
		if _, err := s.Rates(Options{Open: func(string) ([]byte, error) { return []byte(list), nil }}); err != nil {
			t.Fatal(err)
		}
		if got := floats(s); got != want {
			t.Errorf("fenced %q: %q floats, want %q", said, got, want)
		}
		again, err := s.With("capacity.base.gpus=16")
		if err != nil {
			t.Fatal(err)
		}
		if got := floats(again); got != want {
			t.Errorf("fenced %q, after an override: %q floats, want %q", said, got, want)
		}
	}
}

// By hand: 4 GPUs of committed use at $2.00 for 48 h are $384.00. A job of 2 GPUs runs from 0:00 to 9:58
// and one of 4 from 9:00 to 19:00. As a place the first runs in it and the second, which never fits
// beside it, on demand: 40 GPU-hours at $4.00. As a bill the commitment covers 4 GPU-hours of every
// hour's use, and only from 9:00 to 9:58 are there more, 2 GPUs.
func TestCommittedUseByHand(t *testing.T) {
	job := func(id string, at capcli.Time, run capcli.Seconds, gpus int) capcli.Job {
		return capcli.Job{ID: id, Submit: newYear + at, Run: run, GPUs: gpus, Deadline: capcli.NoTime}
	}
	for fenced, want := range map[string]string{"false": "391.733333", "true": "544.00"} {
		s, res := runOf(t, "capacity:\n  - {name: base, kind: cud, gpus: 4, price: 2.00, until: 2027-01-02, fenced: "+fenced+"}\n  - {name: od, kind: on_demand, price: 4.00}\n",
			job("two", 0, 9*capcli.Hour+58*capcli.Minute, 2), job("four", capcli.Time(9*capcli.Hour), 10*capcli.Hour, 4))
		inv, err := s.Invoice(res.Record, res.Ended, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if got := inv.Total.Cost.Decimal(); got != want {
			t.Errorf("fenced %s: %s, want %s", fenced, got, want)
		}
	}
}

// A job that no committed pool could hold does not wait its patience for one, and one whose patience ends
// when committed GPUs come free has them. With endless patience what fits nowhere stays undone.
func TestPatienceIsForWhatFits(t *testing.T) {
	const text = "overflow: {patience: 1h}\ncapacity:\n  - {name: base, kind: reserved, gpus: 1, price: 1}\n  - {name: od, kind: on_demand, price: 4}\n"
	job := func(id string, run capcli.Seconds, gpus int) capcli.Job {
		return capcli.Job{ID: id, Submit: newYear, Run: run, GPUs: gpus, Deadline: capcli.NoTime}
	}
	s, res := runOf(t, text, job("first", capcli.Hour, 1), job("large", 2*capcli.Hour, 2), job("next", capcli.Hour, 1))
	inv, err := s.Invoice(res.Record, res.Ended, Options{})
	if err != nil {
		t.Fatal(err)
	}
	// The large one pays for 4 GPU-hours on demand at once; the next waits an hour for the place.
	if want := capcli.USD(96+16) * capcli.Dollar; inv.Total.Cost != want || res.Wait.Max != capcli.Hour || res.Wait.Mean != 1200 {
		t.Errorf("it costs %s, want %s; waits are %d s at most, %v on average", inv.Total.Cost.Decimal(), want.Decimal(), res.Wait.Max, res.Wait.Mean)
	}
	if _, res = runOf(t, strings.Replace(text, "1h", "never", 1), job("large", capcli.Hour, 2)); res.Jobs.Unplaceable != 1 {
		t.Errorf("%+v, want one job that never runs", res.Jobs)
	}
}
