package scenarios

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/profile/measured"
	"capcli/scenarios/outcome"
	"capcli/scenarios/strict"
)

// Speed makes jobs faster or slower than their log or generator states: input that keeps up, a compiled
// or quantised model, a better batch. It answers what such a change is worth. A job is matched by every
// list that is not empty. If several entries match a job, their factors multiply.
type Speed struct {
	Classes, Tenants, Partitions, Models []string
	Jobs                                 []string // ids
	Because                              string
	Factor                               Ratio // times as fast
	GPUMem                               Ratio // memory that the job takes on a GPU, against what it takes now; zero leaves it
	GPUMemMiB                            int64 // or the memory itself; 0 leaves it
	Limits                               bool  // the limits of the jobs change as their run times do
	Off                                  bool  // the entry changes nothing
	Profile                              *SpeedProfile
}

// SpeedProfile takes the factor from a profile summary: the time in which the measured jobs waited for
// input, of which a share goes away.
type SpeedProfile struct {
	File    string
	Jobs    []string // ids of the measured jobs; all jobs if Tenants is empty too
	Tenants []string
	Fixes   float64 // share of the waiting time that goes away
}

// Ratio is an exact factor above 0. The zero value is not given.
type Ratio struct{ Num, Den int64 }

// mostFactor bounds factors of speed, both ways.
const mostFactor = 1000

// newRatio returns num over den in lowest terms. It is false outside 1/1000 to 1000.
func newRatio(num, den int64) (Ratio, bool) {
	if num < 1 || den < 1 || num/den > mostFactor || den/num > mostFactor {
		return Ratio{}, false
	}
	a, b := num, den
	for b > 0 {
		a, b = b, a%b
	}
	return Ratio{num / a, den / a}, true
}

// Float returns the factor; 1 if it is not given.
func (r Ratio) Float() float64 {
	if r.Num == 0 {
		return 1
	}
	return float64(r.Num) / float64(r.Den)
}

// String returns the factor as a decimal of at most four places: 1.5.
func (r Ratio) String() string {
	return strconv.FormatFloat(math.Round(r.Float()*1e4)/1e4, 'f', -1, 64)
}

// scaleUp returns v times num over den, rounded up; v if the factor is not given.
func scaleUp(v, num, den int64) int64 {
	if num == 0 || den == 0 {
		return v
	}
	w := capcli.Way{Num: num, Den: den}
	return int64(w.RunTime(capcli.Seconds(v)))
}

func speedFields(s *Speed) []strict.Field {
	return []strict.Field{
		{"classes", "kinds of work that it is for, such as training; default: all", strict.Names(&s.Classes, "names of classes")},
		{"tenants", "tenants that it is for; default: all", strict.Names(&s.Tenants, "names of tenants")},
		{"partitions", "partitions that it is for; default: all", strict.Names(&s.Partitions, "names of partitions")},
		{"models", "GPU models wanted that it is for; default: all", strict.Names(&s.Models, "names of GPU models")},
		{"jobs", "ids of the jobs that it is for, as profile jobs --speed-out writes them; default: all", strict.Names(&s.Jobs, "ids of jobs")},
		{"because", "what makes the jobs faster, in a few words", strict.Text(&s.Because, maxSentence)},
		{"factor", "times as fast: 1.5 cuts the run time to two thirds; under 1 the jobs get slower", readFactor(&s.Factor)},
		{"busy", "instead of factor, the share of the time in which GPUs compute, before and after: 60% -> 90%", readBusy(&s.Factor)},
		{"profile", "instead of factor, what a profile measured: {file: summary.json, tenants: [vision], fixes: 80%}", speedProfileSection.Pointer(&s.Profile)},
		{"gpu_mem", "memory that the job takes on each GPU, against now: 50%", readFactor(&s.GPUMem)},
		{"gpu_mem_gb", "instead of gpu_mem, that memory in GiB", measure(&s.GPUMemMiB, 1024, 1.0/1024, 1e5)},
		{"limits", "true: the time limits of the jobs change as their run times do; default: users keep their limits", strict.Bool(&s.Limits)},
		{"off", "true leaves the entry out, to see what it is worth", strict.Bool(&s.Off)},
	}
}

var speedSection = strict.Section[Speed]{Name: "speed", Fields: speedFields, Check: func(o *strict.Object, s *Speed) {
	ways := slices.DeleteFunc([]string{"factor", "busy", "profile"}, func(name string) bool { return !o.Has(name) })
	switch {
	case len(ways) > 1:
		o.FaultName(ways[1], "%s and %s both say how much faster; leave one out", ways[0], ways[1])
	case len(ways) == 0 && !o.Has("gpu_mem") && !o.Has("gpu_mem_gb"):
		o.FaultMissing("factor", "how much faster? give factor: 1.5, busy: 60%% -> 90%%, or profile")
	}
	if o.Has("gpu_mem") && o.Has("gpu_mem_gb") {
		o.FaultName("gpu_mem_gb", "gpu_mem and gpu_mem_gb both give the memory; leave one out")
	}
	if o.Has("because") && strings.TrimSpace(s.Because) == "" && o.IsClean("because") {
		o.Fault("because", "because is empty")
	}
}}

var speedProfileSection = strict.Section[SpeedProfile]{Name: "speed.profile", Needs: []string{"file", "fixes"}, Fields: func(p *SpeedProfile) []strict.Field {
	return []strict.Field{
		{"file", "what capcli profile summary -o json wrote, relative to this file", file(&p.File)},
		{"jobs", "ids of the measured jobs that stand for these; default: all", strict.Names(&p.Jobs, "ids of jobs")},
		{"tenants", "or the tenants whose measured jobs do", strict.Names(&p.Tenants, "names of tenants")},
		{"fixes", "share of the time waiting for input that goes away: 80%; 100% is the most that there is to gain", share01(&p.Fixes)},
	}
}}

var (
	factorForm = regexp.MustCompile(`^(\d{1,6})(?:\.(\d{1,6}))?( *%)?$`)
	busyForm   = regexp.MustCompile(`^(\d{1,3}(?:\.\d{1,4})?) *%? *(?:->|to) *(\d{1,3}(?:\.\d{1,4})?) *%$`)
)

// parseDecimal returns a decimal as an exact fraction. A percentage is divided by 100.
func parseDecimal(text string) (num, den int64, ok bool) {
	m := factorForm.FindStringSubmatch(text)
	if m == nil {
		return 0, 0, false
	}
	num, err := strconv.ParseInt(m[1]+m[2], 10, 64)
	den = 1
	for range m[2] {
		den *= 10
	}
	if m[3] != "" {
		den *= 100
	}
	return num, den, err == nil
}

func readFactor(dst *Ratio) strict.Reader {
	const form = "a factor from 0.001 to 1000, with at most six decimals, such as 1.5 or 150%"
	return strict.Value(dst, form, form, func(text string) (Ratio, bool) {
		num, den, ok := parseDecimal(text)
		if !ok {
			return Ratio{}, false
		}
		return newRatio(num, den)
	})
}

// readBusy reads two busy shares, 60% -> 90%: the same work takes 60/90 of the time.
func readBusy(dst *Ratio) strict.Reader {
	const form = "two shares of the time over 0 and up to 100%, such as 60% -> 90%"
	return strict.Value(dst, form, form, func(text string) (Ratio, bool) {
		m := busyForm.FindStringSubmatch(text)
		if m == nil {
			return Ratio{}, false
		}
		was, wasDen, okWas := parseDecimal(m[1])
		is, isDen, okIs := parseDecimal(m[2])
		if !okWas || !okIs || was > 100*wasDen || is > 100*isDen {
			return Ratio{}, false
		}
		return newRatio(is*wasDen, was*isDen)
	})
}

// share01 reads a share over 0 and up to 1: 0.8 or 80%.
func share01(dst *float64) strict.Reader {
	const form = "a share over 0 and up to 1, such as 0.8 or 80%"
	return strict.Value(dst, form, form, func(text string) (float64, bool) {
		num, den, ok := parseDecimal(text)
		return float64(num) / float64(max(1, den)), ok && num > 0 && num <= den
	})
}

// readSpeed sets the factors that profiles give. It fails with *capcli.InputError if a profile did not
// measure the jobs, or measured no waiting.
func (s *Scenario) readSpeed(open func(string) ([]byte, error)) error {
	for i := range s.Speed {
		v := &s.Speed[i]
		if v.Profile == nil {
			continue
		}
		b, err := open(v.Profile.File)
		if err != nil {
			return err
		}
		sum, err := measured.Read(v.Profile.File, bytes.NewReader(b))
		if err != nil {
			return err
		}
		if v.Factor, err = v.Profile.factor(sum); err != nil {
			return err
		}
	}
	return nil
}

// factor returns how many times as fast jobs get that wait for input for a share of their time, if
// Fixes of it goes away: 1 / (1 - share * Fixes).
func (p *SpeedProfile) factor(sum *measured.Summary) (Ratio, error) {
	use, err := sum.Select(p.Tenants, p.Jobs)
	if err != nil {
		return Ratio{}, err
	}
	share, known := use.StarvedShare()
	if !known {
		return Ratio{}, &capcli.InputError{
			File: p.File, Field: "starved_s", Text: "expected the time that the jobs waited for input, found none measured",
			Hint: "state it: busy: 60% -> 90%, or factor: 1.5",
		}
	}
	const unit = 1_000_000 // shares in millionths
	left := unit - int64(math.Round(share*p.Fixes*unit))
	out, ok := newRatio(unit, max(1, left))
	if !ok {
		return Ratio{}, &capcli.InputError{File: p.File, Field: "starved_s", Text: "expected jobs that compute for a thousandth of their time or more, found less"}
	}
	return out, nil
}

func (v *Speed) fits(j *capcli.Job) bool {
	in := func(list []string, name string) bool { return len(list) == 0 || slices.Contains(list, name) }
	return in(v.Classes, j.Class) && in(v.Tenants, j.Tenant) && in(v.Partitions, j.Partition) && in(v.Models, j.GPUModel) && in(v.Jobs, j.ID)
}

// hasten applies the scenario's speed entries to a job, and counts what they change. Run times, limits
// and memory are rounded up to whole seconds and MiB by each entry.
func (s *Scenario) hasten(j *capcli.Job, in *Intake) {
	if in.speed == nil {
		in.speed = make([]outcome.Speed, len(s.Speed))
	}
	for i := range s.Speed {
		v := &s.Speed[i]
		if v.Off || !v.fits(j) {
			continue
		}
		t := &in.speed[i]
		t.Jobs++
		t.Before += j.Work()
		j.Run = capcli.Seconds(scaleUp(int64(j.Run), v.Factor.Den, v.Factor.Num))
		if v.Limits {
			j.Limit = capcli.Seconds(scaleUp(int64(j.Limit), v.Factor.Den, v.Factor.Num))
		}
		j.GPUMemMiB = cmp.Or(v.GPUMemMiB, scaleUp(j.GPUMemMiB, v.GPUMem.Num, v.GPUMem.Den))
		t.After += j.Work()
	}
}

// SpeedUse returns what each speed entry of s changed for the jobs that were admitted.
func (in *Intake) SpeedUse(s *Scenario) []outcome.Speed {
	var out []outcome.Speed
	for i := range s.Speed {
		v, t := &s.Speed[i], outcome.Speed{}
		if in.speed != nil {
			t = in.speed[i]
		}
		t.For, t.Because, t.Factor, t.Off = v.audience(), v.Because, v.Factor.Float(), v.Off
		out = append(out, t)
	}
	return out
}

// audience says for which jobs the entry is: classes training, eval; tenants vision.
func (v *Speed) audience() string {
	var parts []string
	for _, p := range []struct {
		word  string
		names []string
	}{{"class", v.Classes}, {"tenant", v.Tenants}, {"partition", v.Partitions}, {"model", v.Models}, {"job", v.Jobs}} {
		if len(p.names) > 0 {
			parts = append(parts, capcli.Plural(int64(len(p.names)), p.word)+" "+strings.Join(p.names, ", "))
		}
	}
	return cmp.Or(strings.Join(parts, "; "), "all jobs")
}

// Title names the entry for people: input fixed (class training, 1.5 times as fast).
func (v *Speed) Title() string {
	what := v.audience()
	if v.Factor.Num > 0 {
		what += fmt.Sprintf(", %s times as fast", v.Factor)
	}
	if v.Because == "" {
		return what
	}
	return fmt.Sprintf("%s (%s)", v.Because, what)
}
