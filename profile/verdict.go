package profile

import (
	"fmt"
	"slices"

	"capcli/profile/judge"
)

// Thresholds of what is judged before the findings.
const (
	leastSeen      = 10_000_000 // microseconds: less is no base for a verdict
	freeShare      = 0.01       // held for less: free
	percentOfWhole = 100
)

// Verdict is a judgement, the words for it and what it rests on.
type Verdict struct {
	Kind       judge.Kind
	Words      string
	Confidence judge.Confidence
	Found      []judge.Found      // time by kind while held, the worst first
	Work       *judge.WorkFinding // of a job; nil of a device that several held
}

// Judge returns the verdict on the use of a device of whose jobs nothing is known.
func (u *Use) Judge() Verdict { return u.judge(&judge.Job{}) }

// judge returns the verdict with what is known of the job.
func (u *Use) judge(j *judge.Job) Verdict {
	j.Rhythm = u.Rhythm
	j.LongPauses = max(0, u.Starved-u.Signs.Paused())
	return u.verdict(judge.Resolve(u.Signs, j))
}

func (u *Use) verdict(found []judge.Found) Verdict {
	if u.Watched < leastSeen {
		return Verdict{Kind: judge.TooShort, Words: "observed for too short a time", Confidence: judge.Low}
	}
	if u.Util.Micros == 0 && u.SM.Micros == 0 {
		return Verdict{Kind: judge.Unknown, Words: "activity is not reported here", Confidence: judge.Low, Found: found}
	}
	if float64(u.Held) < freeShare*float64(u.Seen) {
		return u.unheld(found)
	}
	v := judge.Overall(found, u.Burst())
	return Verdict{Kind: v.Kind, Words: v.Words, Confidence: v.Confidence, Found: found}
}

// unheld is the verdict on a device that nobody held. Utilisation without a process and without
// active SMs is a counter that stands still.
func (u *Use) unheld(found []judge.Found) Verdict {
	busy := u.BusyShare()
	switch {
	case !(busy > freeShare):
		return Verdict{Kind: judge.Free, Words: "free", Confidence: judge.High, Found: found}
	case u.SM.Micros > 0 && u.SM.Mean() < 1:
		return Verdict{Kind: judge.Free, Words: fmt.Sprintf("free; its counter shows %.0f%% busy without a process", percentOfWhole*busy), Confidence: judge.Medium, Found: found}
	}
	return Verdict{Kind: judge.Working, Words: fmt.Sprintf("busy %.0f%% of the time, by an unknown process", percentOfWhole*busy), Confidence: judge.Low, Found: found}
}

// Judge returns the verdict on the job.
func (j *JobUse) Judge() Verdict {
	work := j.work()
	v := j.Use.judge(j.facts(&work))
	v.Work = &work
	return v
}

// work says what kind of work the job is.
func (j *JobUse) work() judge.WorkFinding {
	u := j.Use
	return judge.Work(&judge.WorkCase{
		Command: j.Command, Devices: j.Devices, Hosts: len(j.hosts), Held: u.Held, Tally: u.Signs, Rhythm: u.Rhythm,
		Tensor: u.Tensor.Mean(), MemoryLow: u.Memory.Quantile(0.05), MemoryHigh: u.Memory.Quantile(0.95),
	})
}

// facts returns what is known of the job for its verdict. A guess at its work is no base for more.
func (j *JobUse) facts(work *judge.WorkFinding) *judge.Job {
	out := &judge.Job{Devices: j.Devices, Hosts: len(j.hosts), Work: judge.UnknownWork}
	if j.Kind == unknownKind {
		out.Devices, out.Hosts = 0, 0
	}
	if work.Confidence > judge.Low {
		out.Work = work.Kind
	}
	return out
}

// Judgements are the verdicts on all that a Summary holds.
type Judgements struct {
	Devices, Jobs, Tenants []Verdict // by index
	Total                  Verdict
}

// Judge returns all verdicts. What devices and tenants did is the sum of the findings of their jobs.
func (s *Summary) Judge(tenants []*TenantUse) *Judgements {
	out := &Judgements{}
	jobs, byID, byTenant := make([]*judge.Job, len(s.Jobs)), map[string][]int{}, map[string][]judge.Found{}
	for i, j := range s.Jobs {
		v := j.Judge()
		jobs[i] = j.facts(v.Work)
		byID[j.ID] = append(byID[j.ID], i)
		byTenant[j.Tenant] = judge.MergeFound(byTenant[j.Tenant], v.Found)
		out.Jobs = append(out.Jobs, v)
	}
	var all []judge.Found
	for _, d := range s.Devices {
		var held []int
		for _, id := range d.Jobs {
			held = append(held, byID[id]...)
		}
		v := d.Use.judge(commonFacts(jobs, held))
		if len(held) == 1 {
			v.Work = out.Jobs[held[0]].Work
		}
		all = judge.MergeFound(all, v.Found)
		out.Devices = append(out.Devices, v)
	}
	for _, t := range tenants {
		out.Tenants = append(out.Tenants, t.Use.verdict(byTenant[t.Tenant]))
	}
	out.Total = s.Total().verdict(all)
	return out
}

// commonFacts returns what is true of all of some jobs.
func commonFacts(jobs []*judge.Job, of []int) *judge.Job {
	if len(of) == 0 {
		return &judge.Job{}
	}
	first := *jobs[of[0]]
	for _, i := range of[1:] {
		j := jobs[i]
		if j.Work != first.Work {
			first.Work = judge.UnknownWork
		}
		first.Devices, first.Hosts = agreedCount(first.Devices, j.Devices), agreedCount(first.Hosts, j.Hosts)
	}
	return &first
}

// agreedCount returns the smaller of two counts where both are of one, or both of more; else 0, not known.
func agreedCount(a, b int) int {
	if a == 0 || b == 0 || (a == 1) != (b == 1) {
		return 0
	}
	return min(a, b)
}

// Finding returns the finding of a kind, or nil.
func (v *Verdict) Finding(k judge.Kind) *judge.Found {
	if i := slices.IndexFunc(v.Found, func(f judge.Found) bool { return f.Kind == k }); i >= 0 {
		return &v.Found[i]
	}
	return nil
}
