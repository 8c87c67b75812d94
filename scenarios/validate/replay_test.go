package validate

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"capcli"
	"capcli/simulate/policy"
)

// rulesOf returns the rules of a policy by its name.
func rulesOf(t *testing.T, name string) Rules {
	t.Helper()
	p, err := policy.Catalog.Get(name)
	if err != nil {
		t.Fatal(err)
	}
	return Rules{Policy: p}
}

func TestReplayEqualsTheReference(t *testing.T) {
	easy := rulesOf(t, "easy")
	for _, name := range goldenLogs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, jobs := goldenCase(t, name)
			l := NewLog(goldenLog(t, name), a.Units)
			plain := startsBy(t, l, easy)
			perfect := startsBy(t, l, easy.Perfect())
			for i, j := range l.Jobs {
				if want := jobs[j.ID]; plain[i] != want.easy || perfect[i] != want.easyRun {
					t.Fatalf("job %s starts at %d, with true run times at %d, want %d, %d", j.ID, plain[i], perfect[i], want.easy, want.easyRun)
				}
			}
			from := l.Jobs[0].Queued + capcli.Time(capcli.Seconds(a.WarmDays)*day)
			if want, ok := a.Replay["fifo"]; ok {
				checkFidelity(t, "fifo", l.Measure(startsBy(t, l, rulesOf(t, "fifo")), from), want)
			}
			checkExplained(t, l, a, easy, from)
		})
	}
}

func startsBy(t *testing.T, l *Log, r Rules, stretches ...Stretch) []capcli.Time {
	t.Helper()
	starts, err := l.Replay(t.Context(), r, stretches...)
	if err != nil {
		t.Fatal(err)
	}
	return starts
}

// checkExplained compares the replays that use hindsight.
func checkExplained(t *testing.T, l *Log, a *goldenAnswer, easy Rules, from capcli.Time) {
	t.Helper()
	free, origin := l.WithoutHolds(l.Overtaken())
	back := func(starts []capcli.Time) Fidelity {
		all := make([]capcli.Time, len(starts))
		for i, k := range origin {
			all[k] = starts[i]
		}
		return l.Measure(all, from)
	}
	checkFidelity(t, "outages", l.Measure(startsBy(t, l, easy, l.NoStarts(1)...), from), a.Explained["outages"])
	checkFidelity(t, "overtaken", back(startsBy(t, free, easy)), a.Explained["overtaken"])
	checkFidelity(t, "overtaken, outages", back(startsBy(t, free, easy, free.NoStarts(1)...)), a.Explained["overtaken, outages"])
	checkFidelity(t, "overtaken, outages of two tenants", back(startsBy(t, free, easy, free.NoStarts(2)...)), a.Explained["overtaken, outages of two tenants"])
}

func TestSeededReplayEqualsTheReference(t *testing.T) {
	for _, name := range goldenLogs[3:] {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, _ := goldenCase(t, name)
			l := NewLog(goldenLog(t, name), a.Units)
			path := filepath.Join(golden, name+".seeded.csv")
			if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
				t.Skipf("%s is absent", path)
			}
			rows := readPlainRows(t, path)
			part := l.PartFrom(capcli.Time(number(rows[0]["cut"])))
			starts := map[string]capcli.Time{}
			for i, s := range startsBy(t, part, rulesOf(t, "easy")) {
				starts[part.Jobs[i].ID] = s
			}
			req := goldenRequest(t, name, a.Units)
			req.From = "3d"
			r, err := Validate(t.Context(), req, openFile, func(string) {}, func(int64) {})
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range r.Rows() {
				if got := r.First + capcli.Time(row.Simulated); got != starts[row.ID] || row.Fits < 0 {
					t.Fatalf("job %s starts at %d and would have fitted for %d s, want %d", row.ID, got, row.Fits, starts[row.ID])
				}
			}
			if len(rows) != len(starts) || len(r.Rows()) != len(rows) {
				t.Fatalf("%d jobs from the cut on, want %d", len(starts), len(rows))
			}
			for _, r := range rows {
				if want := capcli.Time(number(r["easy_start"])); starts[r["job"]] != want {
					t.Fatalf("job %s (%s) starts at %d, want %d", r["job"], r["state"], starts[r["job"]], want)
				}
			}
		})
	}
}

// A log that EASY itself made is replayed from any cut with the same starts, and nothing of it is
// overtaken. Limits hold, so that no belief changes by time alone.
func TestReplayFromACutKeepsTheStarts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rng := capcli.Seed(rapid.Uint64().Draw(t, "seed")).Stream("jobs")
		var jobs []Job
		at := capcli.Time(1000)
		for i := range 150 {
			at += capcli.Time(rng.IntN(900))
			run := capcli.Seconds(1 + rng.IntN(3000))
			jobs = append(jobs, Job{ID: strconv.Itoa(i), Tenant: strconv.Itoa(i % 3), Queued: at, Start: at, End: at + capcli.Time(run), Units: int64(1 + rng.IntN(6)), Limit: run + capcli.Seconds(rng.IntN(4000))})
		}
		p, err := policy.Catalog.Get(rapid.SampledFrom([]string{"easy", "fifo"}).Draw(t, "policy"))
		if err != nil {
			t.Fatal(err)
		}
		l := NewLog(jobs, 8)
		starts, err := l.Replay(t.Context(), Rules{Policy: p})
		if err != nil {
			t.Fatal(err)
		}
		for i := range l.Jobs {
			run := l.Jobs[i].Run()
			l.Jobs[i].Start, l.Jobs[i].End = starts[i], starts[i]+capcli.Time(run)
		}
		if l.HighestUse() > 8 || len(l.Overtaken()) > 0 {
			t.Fatalf("%d of 8 in use, %d overtaken", l.HighestUse(), len(l.Overtaken()))
		}
		part := l.PartFrom(l.Jobs[0].Queued + capcli.Time(rapid.IntRange(0, int(at)-1000).Draw(t, "cut")))
		again, err := part.Replay(t.Context(), Rules{Policy: p})
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range again {
			if s != part.Jobs[i].Start {
				t.Fatalf("job %s starts at %d from the cut at %d, and at %d in all", part.Jobs[i].ID, s, part.Cut, part.Jobs[i].Start)
			}
		}
	})
}
