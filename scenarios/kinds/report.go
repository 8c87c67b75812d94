package kinds

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/profile"
	"capcli/profile/judge"
)

// Report is the work of a log by kind.
type Report struct {
	Jobs     int64          `json:"jobs"`
	GPUHours capcli.GPUTime `json:"gpu_hours"`
	Span     capcli.Seconds `json:"span_s"`         // from the first submission to the last end had nobody waited
	Recorded bool           `json:"has_recordings"` // jobs come with verdicts of recordings
	// Told is the GPU time of jobs with a verdict, and ToldSpan the time over which they were.
	Told     capcli.GPUTime `json:"recorded_gpu_hours"`
	ToldSpan capcli.Seconds `json:"recorded_span_s"`
	Kinds    []KindRow      `json:"kinds"`
	Rules    []RuleRow      `json:"rules"` // in the order in which they are tried
	// Verdicts are the verdicts of recordings, the most GPU time first; none for a log alone.
	Verdicts   []VerdictRow `json:"verdicts"`
	Checkpoint Checkpoint   `json:"checkpoint"`
	Spot       SpotTerms    `json:"spot"`
	// Untold is what the jobs that cannot be told would be if they could be restarted, or saved their work.
	Untold     Untold   `json:"untold"`
	Tells      []string `json:"tells"`       // what the evidence can tell
	CannotTell []string `json:"cannot_tell"` // and what not
}

// Untold is jobs of kind Unknown that would be of kind Spot: those of which little enough would be done again if they were
// started anew, and if they had checkpoints. The shares are of the GPU time of the log, and what is done again of these jobs.
type Untold struct {
	Restart       float64 `json:"restartable_share"`
	RestartRedone float64 `json:"restartable_redone"`
	Saved         float64 `json:"with_checkpoints_share"`
	SavedRedone   float64 `json:"with_checkpoints_redone"`
}

// addUntold adds the GPU time of a job that cannot be told, and the GPU time that is done again of it.
func (s *Survey) addUntold(u *Untold, j *capcli.Job) {
	e := evidence{job: j, rules: s.rules, meanUp: s.meanUp}
	for _, saves := range []bool{false, true} {
		if e.saves = saves; e.redone() > s.rules.Redone {
			continue
		}
		if work := j.Work().Hours(); saves {
			u.Saved, u.SavedRedone = u.Saved+work, u.SavedRedone+work*e.redone()
		} else {
			u.Restart, u.RestartRedone = u.Restart+work, u.RestartRedone+work*e.redone()
		}
	}
}

// share divides sums of GPU-hours.
func (u *Untold) share(all float64) {
	u.RestartRedone, u.SavedRedone = u.RestartRedone/max(u.Restart, 1e-9), u.SavedRedone/max(u.Saved, 1e-9)
	u.Restart, u.Saved = u.Restart/max(all, 1e-9), u.Saved/max(all, 1e-9)
}

// KindRow is the jobs of one kind.
type KindRow struct {
	Kind     Kind           `json:"kind"`
	Jobs     int64          `json:"jobs"`
	GPUHours capcli.GPUTime `json:"gpu_hours"`
	Share    float64        `json:"share"` // of the GPU time
	Mean     float64        `json:"mean_gpus"`
	Saves    capcli.GPUTime `json:"with_checkpoints_gpu_hours"`
}

// RuleRow is a rule with the jobs that it put into its kind.
type RuleRow struct {
	Rule
	Jobs     int64          `json:"jobs"`
	GPUHours capcli.GPUTime `json:"gpu_hours"`
}

// VerdictRow is the jobs with one verdict of a recording.
type VerdictRow struct {
	Verdict  string         `json:"verdict"`
	Words    string         `json:"verdict_words"`
	Jobs     int64          `json:"jobs"`
	GPUHours capcli.GPUTime `json:"gpu_hours"`
	// LeftOut is the GPU time of jobs that are not planned for, and InputWait that in which the GPUs of the others
	// waited for input: it is in the plan until that is mended.
	LeftOut       capcli.GPUTime `json:"left_out_gpu_hours"`
	InputWait     capcli.GPUTime `json:"input_wait_gpu_hours"`
	LeftOutGPUs   float64        `json:"left_out_gpus"`
	InputWaitGPUs float64        `json:"input_wait_gpus"`
	Do            string         `json:"do"`
}

// inputWait returns the GPU time in which the GPUs of a job waited for input, as its recording says.
func inputWait(j *capcli.Job) capcli.GPUTime {
	v, err := strconv.ParseInt(j.Tags.Value(profile.InputWaitTag), 10, 8)
	if err != nil || v <= 0 {
		return 0
	}
	work, share := j.Work(), capcli.GPUTime(min(v, 100))
	return work/100*share + work%100*share/100
}

// Report returns the work of the jobs by kind. The jobs are those that were added.
func (s *Survey) Report(jobs []capcli.Job) *Report {
	out := &Report{Recorded: s.Recorded(), Verdicts: []VerdictRow{}, Checkpoint: s.rules.Checkpoint, Spot: s.SpotTerms()}
	for _, k := range Names {
		out.Kinds = append(out.Kinds, KindRow{Kind: k})
	}
	for _, r := range s.rules.Table() {
		out.Rules = append(out.Rules, RuleRow{Rule: r})
	}
	var all, told extent
	for i := range jobs {
		j := &jobs[i]
		if j.GPUs == 0 {
			continue
		}
		all.add(j)
		a := s.Assign(j)
		out.Jobs, out.GPUHours = out.Jobs+1, out.GPUHours+j.Work()
		k := &out.Kinds[slices.Index(Names, a.Kind)]
		k.Jobs, k.GPUHours = k.Jobs+1, k.GPUHours+j.Work()
		if a.Saves {
			k.Saves += j.Work()
		}
		if a.Kind == Unknown {
			s.addUntold(&out.Untold, j)
		}
		r := &out.Rules[a.Rule]
		r.Jobs, r.GPUHours = r.Jobs+1, r.GPUHours+j.Work()
		if v := s.verdict(j); v != "" {
			out.addVerdict(j, v, &a)
			told.add(j)
		}
	}
	out.Span, out.Told, out.ToldSpan = all.span(), told.work, told.span()
	out.finish()
	out.Untold.share(out.GPUHours.Hours())
	out.Tells, out.CannotTell = s.limits()
	return out
}

// extent is the time over which jobs were, and their GPU time.
type extent struct {
	from, to capcli.Time
	jobs     int64
	work     capcli.GPUTime
}

func (e *extent) add(j *capcli.Job) {
	if e.jobs == 0 || j.Submit < e.from {
		e.from = j.Submit
	}
	e.to, e.jobs, e.work = max(e.to, j.Submit+capcli.Time(j.Run)), e.jobs+1, e.work+j.Work()
}

func (e *extent) span() capcli.Seconds { return capcli.Seconds(e.to - e.from) }

func (r *Report) addVerdict(j *capcli.Job, found judge.Kind, a *Assigned) {
	i := slices.IndexFunc(r.Verdicts, func(v VerdictRow) bool { return v.Verdict == string(found) })
	if i < 0 {
		d := found.Describe()
		i, r.Verdicts = len(r.Verdicts), append(r.Verdicts, VerdictRow{Verdict: string(found), Words: d.Words, Do: d.Do})
	}
	v := &r.Verdicts[i]
	v.Jobs, v.GPUHours = v.Jobs+1, v.GPUHours+j.Work()
	if a.Kind == Unneeded {
		v.LeftOut += j.Work()
	} else {
		v.InputWait += inputWait(j)
	}
}

// finish fills in shares and means.
func (r *Report) finish() {
	mean := func(t capcli.GPUTime, over capcli.Seconds) float64 {
		if over <= 0 {
			return 0
		}
		return t.Hours() / over.Hours()
	}
	for i := range r.Kinds {
		k := &r.Kinds[i]
		k.Mean = mean(k.GPUHours, r.Span)
		if r.GPUHours > 0 {
			k.Share = float64(k.GPUHours) / float64(r.GPUHours)
		}
	}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		v.LeftOutGPUs, v.InputWaitGPUs = mean(v.LeftOut, r.ToldSpan), mean(v.InputWait, r.ToldSpan)
	}
	slices.SortFunc(r.Verdicts, func(a, b VerdictRow) int {
		return cmp.Or(cmp.Compare(b.GPUHours, a.GPUHours), strings.Compare(a.Verdict, b.Verdict))
	})
}

// Row returns the row of a kind.
func (r *Report) Row(k Kind) *KindRow { return &r.Kinds[slices.Index(Names, k)] }

// SpotShare returns the share of the GPU time that may go to spot GPUs by the rules.
func (r *Report) SpotShare() float64 {
	if r.GPUHours == 0 {
		return 0
	}
	return float64(r.Row(Spot).GPUHours+r.Row(Waits).Saves) / float64(r.GPUHours)
}

// limits says what the evidence can tell, and what not.
func (s *Survey) limits() (tells, not []string) {
	tells = []string{"how long jobs run, and how long they may be put off where they have a deadline", "how jobs ended, and how long their users let them wait, where the log records starts"}
	not = []string{"whether a job without a word about it has checkpoints: a tag or a line of a file says so"}
	if s.told < s.jobs && s.tagged > 0 {
		not = append(not, fmt.Sprintf("what the GPUs of %s %s did that no recording has: all of their time counts", capcli.Grouped(s.jobs-s.told), capcli.Plural(s.jobs-s.told, "job")))
	}
	if s.Recorded() {
		tells = append(tells, "what GPUs did: idle, stuck, waiting for input, serving, training or a person's session")
		return tells, append(not, "whether a job that a recording calls idle was kept for a reason: ask its owner")
	}
	return tells, append(not,
		"whether a job used the GPUs that it held: none counts as unneeded without a recording (capcli profile jobs)",
		"whether somebody sat at a job that no name tells of: it counts as one that cannot wait")
}

// Sentence says how much of the GPU time is of which kind.
func (r *Report) Sentence() string {
	var parts []string
	for i := range r.Kinds {
		k := &r.Kinds[i]
		if k.Jobs == 0 {
			continue
		}
		parts = append(parts, PercentText(k.Share)+" "+map[Kind]string{
			Always: "must run when it comes", Waits: "may wait", Spot: "may run on spot GPUs", Unneeded: "held GPUs and did nothing", Unknown: "cannot be told and counts as if it could not wait",
		}[k.Kind])
	}
	if len(parts) == 0 {
		return ""
	}
	return "Of the GPU time " + strings.Join(parts, ", ") + "."
}

// VerdictSentences say what recordings found that is cheaper to mend than to buy for, one for each such verdict. scale is
// the level of the demand that is planned for over that of the log.
func (r *Report) VerdictSentences(scale float64) []string {
	var out []string
	of := "the GPU time"
	if r.Told < r.GPUHours {
		of = "the recorded GPU time"
	}
	for i := range r.Verdicts {
		v := &r.Verdicts[i]
		if most := max(v.LeftOut, v.InputWait); float64(most) < leastTold*float64(r.Told) {
			continue
		}
		share := func(t capcli.GPUTime) string { return PercentText(float64(t)/float64(r.Told)) + " of " + of }
		if v.LeftOut > 0 {
			out = append(out, fmt.Sprintf("%s is %s (%s): the plan buys nothing for it, which is %s GPUs.", share(v.LeftOut), v.Words, v.Verdict, GPUsText(scale*v.LeftOutGPUs)))
		}
		if v.InputWait > 0 {
			out = append(out, fmt.Sprintf("%s waits for input (%s): mending it is worth %s GPUs before any purchase.", share(v.InputWait), v.Verdict, GPUsText(scale*v.InputWaitGPUs)))
		}
	}
	return out
}

// leastTold is the share of the GPU time from which a verdict has a sentence.
const leastTold = 0.005

// PercentText writes a share in whole percent.
func PercentText(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) }

// GPUsText writes a mean number of GPUs with one decimal below ten.
func GPUsText(v float64) string {
	if v < 9.95 {
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// SavesMean returns the mean number of GPUs of the jobs of the kind that have checkpoints.
func (k *KindRow) SavesMean(r *Report) float64 {
	if r.Span <= 0 {
		return 0
	}
	return k.Saves.Hours() / r.Span.Hours()
}
