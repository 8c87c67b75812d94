// Package kinds says of each job of a log what kind of capacity may serve it: capacity that is always there, capacity
// for which it may wait, or spot capacity that is taken away. It goes by evidence: what a file of the user states, what
// recordings of the GPUs found, names, deadlines, checkpoints, and what the log itself shows. A job of which nothing
// tells is unknown, and is planned for as if it had to run always.
package kinds

import (
	"fmt"
	"slices"
	"strings"

	"capcli"
	"capcli/profile/judge"
)

// Kind is what kind of capacity may serve a job.
type Kind string

// The kinds.
const (
	Always   Kind = "always"   // it must run when it comes: a service, a session of a person
	Waits    Kind = "waits"    // it may wait for capacity
	Spot     Kind = "spot"     // it may lose its GPUs: it is short or has checkpoints, so little is done again
	Unneeded Kind = "unneeded" // it held GPUs and did nothing with them; recordings alone say so
	Unknown  Kind = "unknown"  // nothing tells; planned for as always
)

// Names are the kinds in the order of reports.
var Names = []Kind{Always, Waits, Spot, Unknown, Unneeded}

// Saved is the class of jobs of kind Spot that have checkpoints. The class of all others is their kind.
const Saved = "spot-saved"

// The partitions to which jobs are sent by kind.
const (
	BaseLane = "base" // reserved GPUs and GPUs on demand
	SpotLane = "spot" // spot GPUs too
)

// Assigned is the kind of a job, and the rule that put it there.
type Assigned struct {
	Kind  Kind
	Rule  int  // index in Rules.Table
	Saves bool // it has checkpoints
}

// Class returns the class of the job in a plan by kind: Saved for jobs on spot GPUs that have checkpoints, else the kind.
func (a *Assigned) Class() string {
	if a.Kind == Spot && a.Saves {
		return Saved
	}
	return string(a.Kind)
}

// Lane returns the partition to which the job is sent: SpotLane for kind Spot, and for Waits with checkpoints.
func (a *Assigned) Lane() string {
	if a.Kind == Spot || a.Kind == Waits && a.Saves {
		return SpotLane
	}
	return BaseLane
}

// Rule is a row of the table by which jobs are told apart. The first that fits a job decides.
type Rule struct {
	Name      string `json:"rule"`
	Kind      Kind   `json:"kind"`
	LooksAt   string `json:"looks_at"`
	Threshold string `json:"threshold"`
	Because   string `json:"because"`

	fits func(e *evidence) bool
}

// evidence is what is known of one job.
type evidence struct {
	job   *capcli.Job
	rules *Rules
	group *group
	work  judge.WorkKind // told by names or by a recording
	batch bool           // names say that nobody waits at it
	found judge.Kind     // verdict of a recording; "" is none
	saves bool

	meanUp capcli.Seconds // mean time until a machine on spot is taken away
}

// slack returns how long the job may be put off and meet its deadline; false where it has none.
func (e *evidence) slack() (capcli.Seconds, bool) {
	if !e.job.Deadline.IsKnown() {
		return 0, false
	}
	return capcli.Seconds(e.job.Deadline-e.job.QueueTime()) - e.job.Run, true
}

// redone returns the share of the job's time that is expected to be done again on spot GPUs. Machines are lost at
// random, each once in SpotMean on average. A loss costs half the time since the last checkpoint on average, or half
// the job, and a restart: n machines lose n * (L/2 + restart) / SpotMean of each hour to first order (Young, "A first
// order approximation to the optimum checkpoint interval", CACM 1974).
func (e *evidence) redone() float64 {
	r := e.rules
	long := e.job.Estimate()
	if e.saves {
		long = min(long, r.Checkpoint.Every)
	}
	return float64(r.machines(e.job)) * (float64(long)/2 + float64(r.Checkpoint.Restart)) / float64(e.meanUp)
}

// isBatch reports whether names say that the job is work at which nobody sits.
func (e *evidence) isBatch() bool {
	return e.batch || e.work == judge.Training || e.work == judge.FineTuning
}

// Table returns the rules in their order: first the lines of the file of the user, then those by evidence.
func (r *Rules) Table() []Rule {
	if r.table == nil {
		for i := range r.Lines {
			l := &r.Lines[i]
			r.table = append(r.table, Rule{
				Name: fmt.Sprintf("line %d", i+1), Kind: l.Kind, LooksAt: l.text(), Because: l.Because,
				fits: func(e *evidence) bool { return l.matches(e.job) },
			})
		}
		r.table = append(append(r.table, r.firm()...), r.soft()...)
	}
	return r.table
}

// firm returns the rules for work that is not needed or cannot wait.
func (r *Rules) firm() []Rule {
	return []Rule{
		{
			Name: "idle", Kind: Unneeded, LooksAt: "the verdict of a recording", Threshold: "never_busy or mostly_idle",
			Because: "GPUs that are held without work are given back, not bought",
			fits:    func(e *evidence) bool { return e.found == judge.NeverBusy || e.found == judge.MostlyIdle },
		},
		{
			Name: "stuck", Kind: Unneeded, LooksAt: "the verdict of a recording", Threshold: "stuck",
			Because: "a kernel that never ends does no work",
			fits:    func(e *evidence) bool { return e.found == judge.Stuck },
		},
		{
			Name: "session", Kind: Always, LooksAt: "names of class, partition and job, the work of a recording", Threshold: "notebook, shell, debug and the like",
			Because: "somebody sits at it",
			fits:    func(e *evidence) bool { return e.work == judge.Interactive },
		},
		{
			Name: "service", Kind: Always, LooksAt: "names of class, partition and job, the work of a recording", Threshold: "serving, inference and the like",
			Because: "requests do not wait",
			fits:    func(e *evidence) bool { return e.work == judge.Inference && !e.batch },
		},
		{
			Name: "due", Kind: Always, LooksAt: "the deadline", Threshold: "slack under " + r.Slack.String(),
			Because: "a wait or a loss would miss it",
			fits: func(e *evidence) bool {
				s, has := e.slack()
				return has && s < r.Slack
			},
		},
	}
}

// soft returns the rules for work that may lose its GPUs or wait, and for the rest.
func (r *Rules) soft() []Rule {
	percent := fmt.Sprintf("%.3g%% of its time", 100*r.Redone)
	return []Rule{
		{
			Name: "saves", Kind: Spot, LooksAt: "a tag that says checkpoint", Threshold: "expected to do again at most " + percent,
			Because: "what a loss costs is the time since the last checkpoint",
			fits:    func(e *evidence) bool { return e.saves && e.redone() <= r.Redone },
		},
		{
			Name: "preempted", Kind: Spot, LooksAt: "how jobs of its tenant, partition and class ended", Threshold: "1% or more by preemption, and expected to do again at most " + percent,
			Because: "the cluster takes GPUs away from such jobs already",
			fits:    func(e *evidence) bool { return e.group.preempted() && e.redone() <= r.Redone },
		},
		{
			Name: "short batch", Kind: Spot, LooksAt: "names, and the time asked for or the run time", Threshold: "training, batch and the like, expected to do again at most " + percent,
			Because: "work at which nobody sits is started again, and little is lost",
			fits:    func(e *evidence) bool { return e.isBatch() && e.redone() <= r.Redone },
		},
		{
			Name: "slack", Kind: Waits, LooksAt: "the deadline", Threshold: "slack of " + r.Slack.String() + " and more",
			Because: "it ends in time even if it waits",
			fits: func(e *evidence) bool {
				s, has := e.slack()
				return has && s >= r.Slack
			},
		},
		{
			Name: "batch", Kind: Waits, LooksAt: "names of class, partition and job, the work of a recording", Threshold: "training, batch and the like",
			Because: "nobody sits at it, and a wait is short beside its run",
			fits:    func(e *evidence) bool { return e.isBatch() },
		},
		{
			Name: "has waited", Kind: Waits, LooksAt: "recorded waits of its tenant, partition and class", Threshold: fmt.Sprintf("half of %d jobs or more waited %s", leastWaited, r.Waited),
			Because: "its users let such jobs wait",
			fits:    func(e *evidence) bool { return e.group.hasWaited() },
		},
		{
			Name: "cannot tell", Kind: Unknown, LooksAt: "nothing", Because: "no evidence: planned for as always",
			fits: func(*evidence) bool { return true },
		},
	}
}

// words are begins of words that tell what a job is, beside those of package judge.
var words = []struct {
	begin string
	work  judge.WorkKind
	batch bool
}{
	{"interactive", judge.Interactive, false},
	{"bash", judge.Interactive, false},
	{"shell", judge.Interactive, false},
	{"debug", judge.Interactive, false},
	{"vscode", judge.Interactive, false},
	{"workspace", judge.Interactive, false},
	{"session", judge.Interactive, false},
	{"service", judge.Inference, false},
	{"online", judge.Inference, false},
	{"endpoint", judge.Inference, false},
	{"batch", "", true},
	{"offline", "", true},
	{"sweep", "", true},
	{"tuning", "", true},
	{"hyperparam", "", true},
	{"preprocess", "", true},
	{"eval", "", true},
	{"nightly", "", true},
	{"preempt", "", true},
	{"scavenge", "", true},
}

// readWords says what names tell. A word for a session goes before one for a service, and that before all others.
func readWords(text string) (work judge.WorkKind, batch bool) {
	rank := []judge.WorkKind{judge.UnknownWork, judge.Training, judge.FineTuning, judge.Inference, judge.Interactive}
	best := 0
	text = strings.NewReplacer("fine-tun", "finetun", "fine_tun", "finetun").Replace(strings.ToLower(text))
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		told := judge.Work(&judge.WorkCase{Command: word}).Kind
		for _, w := range words {
			if strings.HasPrefix(word, w.begin) {
				batch = batch || w.batch
				if !w.batch {
					told = w.work
				}
			}
		}
		best = max(best, slices.Index(rank, told))
	}
	return rank[best], batch
}

// nameTags are the tags whose values name the work of a job.
var nameTags = []string{"work", "workload", "kind", "type", "name", "job_name", "jobname", "command", "app", "queue", "qos"}

// checkpointTags are the tags that say whether a job has checkpoints.
var checkpointTags = []string{"checkpoint", "checkpoints", "checkpoint_every", "ckpt", "resumable", "requeue"}

// says reports whether the value of a tag says yes.
func says(value string) bool {
	return value != "" && !slices.Contains([]string{"no", "none", "false", "0", "off", "never"}, strings.ToLower(value))
}

// verdicts are the verdicts of recordings.
var verdicts = func() map[string]judge.Kind {
	out := map[string]judge.Kind{}
	for _, d := range judge.Descriptions {
		out[string(d.Kind)] = d.Kind
	}
	return out
}()
