package kubernetes

import (
	"fmt"
	"strings"

	"capcli"
)

// Answer says in a few sentences what came of the workloads.
func (r *Result) Answer() string {
	c := &r.Workloads
	who, what, outside := "Kueue "+r.Rules.Kueue, "workloads", fmt.Sprintf("%d are in no queue", c.Unqueued)
	if r.Rules.Scheduler != "" {
		who, what, outside = "Kubernetes without Kueue", "pods", fmt.Sprintf("%d objects create no pods", c.Unqueued)
	}
	text := fmt.Sprintf("%s finishes %d of %d %s in %s", who, c.Finished, c.Read, what, r.Length)
	switch w := r.Waits.WaitP95; {
	case w != nil && *w == 0 && r.Waits.Started > 0:
		text += "; 95% do not wait"
	case w != nil && r.Waits.Started > 0:
		text += fmt.Sprintf("; 95%% wait at most %s for their first start", *w)
	}
	if c.Preemptions > 0 {
		text += fmt.Sprintf("; %s: %.1f GPU-hours of work lost", fmt.Sprintf("%s %s", capcli.Grouped(int64(c.Preemptions)), capcli.Plural(int64(c.Preemptions), "preemption")), r.Lost.Hours())
	}
	if c.Running+c.Pending+c.Unqueued > 0 {
		text += fmt.Sprintf("; %d still run, %d still wait and %s", c.Running, c.Pending, outside)
		if undone := r.Possible - r.Served; undone > 0 {
			text += fmt.Sprintf(", with %.1f GPU-hours of work not done", undone.Hours())
		}
	}
	text += "."
	if l := r.Livelock; l != nil {
		names, rest := l.Workloads, ""
		if len(names) > 8 {
			rest = fmt.Sprintf(" and %d others", len(names)-8)
			names = names[:8]
		}
		text = fmt.Sprintf("The cluster does not settle %s after the start: %s%s preempt one another without end. What follows goes up to there.\n", l.At, strings.Join(names, ", "), rest) + text
	}
	return text
}
