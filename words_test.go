package capcli

import (
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func draws(r *rand.Rand, n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = r.Uint64()
	}
	return out
}

func countSame(a, b []uint64) int {
	n := 0
	for i := range a {
		if a[i] == b[i] {
			n++
		}
	}
	return n
}

func TestStreamsDoNotDisturbEachOther(t *testing.T) {
	arrivals := draws(Seed(42).Stream("arrivals"), 100)

	other := Seed(42).Stream("failures/base")
	draws(other, 1000)
	if again := draws(Seed(42).Stream("arrivals"), 100); countSame(arrivals, again) != 100 {
		t.Error("drawing from failures/base moved arrivals")
	}
	for _, tt := range []struct {
		name string
		r    *rand.Rand
	}{
		{"another use", Seed(42).Stream("failures/base")},
		{"another seed", Seed(43).Stream("arrivals")},
		{"another replication", Seed(42).Child(1).Stream("arrivals")},
	} {
		if n := countSame(arrivals, draws(tt.r, 100)); n > 0 {
			t.Errorf("%s: %d of 100 draws are the same", tt.name, n)
		}
	}
}

func TestChildrenDiffer(t *testing.T) {
	if got := Seed(7).Child(0); got != 7 {
		t.Errorf("Child(0) of 7 = %d, want 7", got)
	}
	seen := map[Seed]string{}
	for seed := Seed(0); seed < 50; seed++ {
		for i := 1; i <= 50; i++ {
			c := seed.Child(i)
			if was := seen[c]; was != "" {
				t.Fatalf("seed %d, replication %d has the seed of %s", seed, i, was)
			}
			seen[c] = "an earlier one"
		}
	}
}

func testCatalog() *Catalog[int] {
	c := &Catalog[int]{Kind: "policy"}
	c.Add("sjf", "shortest first", 2)
	c.Add("easy", "backfill", 3)
	c.Add("fifo", "in order", 1)
	return c
}

func TestCatalogErrors(t *testing.T) {
	tests := []struct{ name, want string }{
		{"fifoo", `unknown policy "fifoo"; did you mean "fifo"? have easy, fifo, sjf`},
		{"FIFO", `unknown policy "FIFO"; did you mean "fifo"? have easy, fifo, sjf`},
		{"magic", `unknown policy "magic": have easy, fifo, sjf`},
		{"", `unknown policy "": have easy, fifo, sjf`},
	}
	for _, tt := range tests {
		_, err := testCatalog().Get(tt.name)
		var unknown *UnknownError
		if !errors.As(err, &unknown) || err.Error() != tt.want {
			t.Errorf("Get(%q): %v, want %s", tt.name, err, tt.want)
		}
	}
	if got, err := testCatalog().Get("easy"); got != 3 || err != nil {
		t.Errorf("Get(easy) = %d, %v, want 3", got, err)
	}
	if got := strings.Join(testCatalog().Names(), " "); got != "easy fifo sjf" {
		t.Errorf("names %q, want them in order", got)
	}
}

func TestCatalogRefusesASecondEntry(t *testing.T) {
	defer func() {
		if got := recover(); got != `two entries for policy "fifo"` {
			t.Errorf("a second fifo: panic %v", got)
		}
	}()
	testCatalog().Add("fifo", "again", 9)
}

func TestInputErrorNamesThePlace(t *testing.T) {
	cause := errors.New("cause")
	tests := []struct {
		e    InputError
		want string
	}{
		{InputError{File: "jobs.swf", Line: 2, Field: "gpus", Text: "expected a number, found \"x\""}, `jobs.swf: line 2: gpus: expected a number, found "x"`},
		{InputError{File: "jobs.swf", Text: "is empty"}, "jobs.swf: is empty"},
		{InputError{Text: "is empty", Err: cause}, "is empty"},
	}
	for _, tt := range tests {
		if got := tt.e.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
	if e := error(&tests[2].e); !errors.Is(e, cause) {
		t.Error("the cause of an InputError is lost")
	}
}

func TestJSONRoundTrip(t *testing.T) {
	type record struct {
		Cost  USD     `json:"cost_usd"`
		At    Time    `json:"at"`
		Held  GPUTime `json:"gpu_hours"`
		Waits Seconds `json:"wait_s"`
	}
	rapid.Check(t, func(t *rapid.T) {
		want := record{
			Cost:  USD(rapid.Int64Range(-9e18, 9e18).Draw(t, "cost")),
			At:    rapid.OneOf(rapid.Just(NoTime), rapid.Map(rapid.Int64Range(-6e10, 2e11), func(n int64) Time { return Time(n) })).Draw(t, "at"),
			Held:  GPUTime(rapid.Int64Range(-1e15, 1e15).Draw(t, "held")),
			Waits: Seconds(rapid.Int64().Draw(t, "waits")),
		}
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got record
		if err := json.Unmarshal(text, &got); err != nil || got != want {
			t.Fatalf("%s gives %+v, %v, want %+v", text, got, err, want)
		}
	})
	text, err := json.Marshal(record{Cost: -25_200_000, At: NoTime, Held: 12 * 3600 * GPUSecond, Waits: 90})
	if want := `{"cost_usd":"-25.20","at":null,"gpu_hours":12,"wait_s":90}`; string(text) != want || err != nil {
		t.Errorf("JSON %s, %v, want %s", text, err, want)
	}
}

func TestJobHoldsMilliGPUs(t *testing.T) {
	tests := []struct {
		name  string
		job   Job
		milli int64
		work  GPUTime
	}{
		{"eight whole GPUs for ten seconds", Job{GPUs: 8, Run: 10}, 8000, 80 * GPUSecond},
		{"a quarter of one", Job{GPUs: 1, GPUMilli: 250, Run: 4}, 250, GPUSecond},
		{"no GPU", Job{Run: 10}, 0, 0},
	}
	for _, tt := range tests {
		if got := tt.job.Milli(); got != tt.milli {
			t.Errorf("%s: %d milli, want %d", tt.name, got, tt.milli)
		}
		if got := tt.job.Work(); got != tt.work {
			t.Errorf("%s: work %d, want %d", tt.name, got, tt.work)
		}
	}
}
