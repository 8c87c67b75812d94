package live

import (
	"bytes"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"testing"

	"capcli"
)

// givenAnew are the fields that the scenario of the pack gives its jobs again.
var givenAnew = []string{"Shape", "Stage", "Data", "Uses"}

// everyField returns a job of which every field has a value of its own. A field of a kind that it
// does not know fails the test: then Pack does not carry it either.
func everyField(t *testing.T, n int64) capcli.Job {
	t.Helper()
	var j capcli.Job
	v := reflect.ValueOf(&j).Elem()
	for i := range v.NumField() {
		switch f := v.Field(i); f.Kind() {
		case reflect.Int, reflect.Int64:
			f.SetInt(n + int64(i))
		case reflect.String:
			f.SetString("field " + strconv.FormatInt(n+int64(i), 10))
		case reflect.Pointer:
			if slices.Contains(givenAnew, v.Type().Field(i).Name) {
				continue
			}
			if f.Type() != reflect.TypeFor[*capcli.Tags]() {
				t.Fatalf("capcli.Job has a field %s of the type %s: add it to the columns of a pack, and here", v.Type().Field(i).Name, f.Type())
			}
			f.Set(reflect.ValueOf(capcli.NewTags(capcli.Tag{Name: "project", Value: "x<" + strconv.FormatInt(n, 10)}, capcli.Tag{Name: "team", Value: "y"})))
		default:
			t.Fatalf("capcli.Job has a field %s of the kind %s: add it to the columns of a pack, and here", v.Type().Field(i).Name, f.Kind())
		}
	}
	return j
}

func TestPackCarriesEveryField(t *testing.T) {
	jobs := []capcli.Job{everyField(t, 1), everyField(t, -1000), {}, everyField(t, math.MaxInt32), {Submit: capcli.NoTime, Eligible: capcli.NoTime, Start: capcli.NoTime, End: capcli.NoTime, Deadline: math.MaxInt64}}
	for n := range len(jobs) + 1 {
		pack, err := Pack(jobs[:n])
		if err != nil {
			t.Fatal(err)
		}
		got, err := Unpack(pack)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.EqualFunc(got, jobs[:n], func(a, b capcli.Job) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("%d jobs came back as %+v, want %+v", n, got, jobs[:n])
		}
	}
}

func TestUnpackRefuses(t *testing.T) {
	whole, err := Pack([]capcli.Job{everyField(t, 1), everyField(t, 2)})
	if err != nil {
		t.Fatal(err)
	}
	for i := range whole {
		if _, err := Unpack(whole[:i]); err == nil {
			t.Errorf("the first %d of %d bytes are taken for a pack", i, len(whole))
		}
	}
}

func FuzzUnpack(f *testing.F) {
	for n := range 3 {
		pack, err := Pack(make([]capcli.Job, n))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(pack)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		jobs, err := Unpack(b)
		if err != nil {
			return
		}
		pack, err := Pack(jobs)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Unpack(pack)
		if err != nil || !reflect.DeepEqual(again, jobs) {
			t.Errorf("%d jobs came back as %d: %v", len(jobs), len(again), err)
		}
	})
}

// drawnJobs returns n jobs of three tenants with heavy tails, as logs have.
func drawnJobs(n int, seed uint64) []capcli.Job {
	r := rand.New(rand.NewPCG(seed, 1))
	out := make([]capcli.Job, n)
	at := capcli.Time(1_700_000_000)
	for i := range out {
		at += capcli.Time(r.IntN(600))
		run := capcli.Seconds(math.Exp(6 + 2*r.NormFloat64()))
		out[i] = capcli.Job{
			ID: strconv.Itoa(i), Tenant: []string{"a", "b", "c"}[r.IntN(3)], GPUs: 1 << r.IntN(4), Submit: at, Run: run, Limit: 2 * run,
			Eligible: capcli.NoTime, Start: at, End: at + capcli.Time(run), Deadline: at + 10*capcli.Time(run),
		}
	}
	return out
}

// At any time the load of each tenant is within the threshold of what it was, up to rounding of run
// times to seconds.
func TestThinKeepsTheLoad(t *testing.T) {
	for seed := range uint64(5) {
		all := drawnJobs(20_000, seed)
		kept, how := Thin(all, 4_000, capcli.Seed(seed))
		if how == nil || how.From != len(all) || how.Kept != len(kept) || len(kept) < 3_997 || len(kept) > 4_003 {
			t.Fatalf("kept %d jobs: %+v", len(kept), how)
		}
		if how.Load < 0.999 || how.Load > 1.001 {
			t.Errorf("the load is %g of what it was", how.Load)
		}
		before, after := map[string]float64{}, map[string]float64{}
		k, rounded := 0, map[string]float64{}
		for i := range all {
			j := &all[i]
			before[j.Tenant] += float64(j.Work())
			if k < len(kept) && kept[k].ID == j.ID {
				after[j.Tenant] += float64(kept[k].Work())
				rounded[j.Tenant] += float64(kept[k].Milli()) / 2
				if kept[k].Run < j.Run || kept[k].End-kept[k].Start != capcli.Time(kept[k].Run) || kept[k].Submit != j.Submit {
					t.Fatalf("job %+v was kept as %+v", *j, kept[k])
				}
				k++
			}
			if off := math.Abs(before[j.Tenant] - after[j.Tenant]); off > float64(how.Least)+1+rounded[j.Tenant] {
				t.Fatalf("after %d jobs the load of %s is off by %g, more than the threshold %d", i, j.Tenant, off, how.Least)
			}
		}
		if k != len(kept) {
			t.Errorf("only %d of %d kept jobs are in order among the jobs", k, len(kept))
		}
		again, _ := Thin(all, 4_000, capcli.Seed(seed))
		if !reflect.DeepEqual(again, kept) {
			t.Error("the same seed keeps other jobs")
		}
	}
	few := drawnJobs(10, 1)
	if kept, how := Thin(few, 10, 1); how != nil || len(kept) != 10 {
		t.Error("ten jobs that fit were thinned")
	}
	if kept, how := Thin(make([]capcli.Job, 10), 4, 1); len(kept) != 0 || how.Load != 0 {
		t.Errorf("jobs without load were kept: %d, %+v", len(kept), how)
	}
}

func TestPackIsSmall(t *testing.T) {
	jobs := drawnJobs(40_000, 7)
	pack, err := Pack(jobs)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Pack(jobs)
	if err != nil || !bytes.Equal(pack, again) {
		t.Error("two packs of the same jobs differ")
	}
	if got := float64(len(pack)) / float64(len(jobs)); got > 16 {
		t.Errorf("a job takes %.1f bytes, want 16 or fewer", got)
	} else {
		t.Logf("a job takes %.1f bytes", got)
	}
}
