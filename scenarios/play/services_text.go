package play

import (
	"fmt"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios/service"
	"capcli/simulate/outcome"
)

// ServicesLead says of each service of a case what requests saw and what it cost, in a sentence each; ""
// without services. Of several runs it describes the first.
func ServicesLead(runs []*Run) string {
	var out []string
	for i := range runs[0].Services {
		out = append(out, serviceLead(&runs[0].Services[i]))
	}
	text := strings.Join(out, "\n")
	if text != "" && len(runs) > 1 {
		text = "In the first run:\n" + text
	}
	return text
}

func serviceLead(s *outcome.Service) string {
	if s.Capacity == 0 {
		text := fmt.Sprintf("%s: %s %s at most, %s at once in the mean", s.Name, capcli.Grouped(int64(s.ReplicasMax)), capcli.Plural(int64(s.ReplicasMax), "replica"), strconv.FormatFloat(s.ReplicasMean, 'f', 1, 64))
		if s.Cost != nil {
			text += fmt.Sprintf("; %s", s.Cost)
		}
		return text + "."
	}
	text := fmt.Sprintf("%s: %s %s", s.Name, capcli.Grouped(s.Requests), capcli.Plural(s.Requests, "request"))
	if n := s.NotAnswered(); n > 0 {
		text += fmt.Sprintf(", %s of them not served", capcli.Grouped(n))
	}
	switch p := s.Promise; {
	case p != nil && p.Kept != nil:
		word := "broken"
		if *p.Kept {
			word = "kept"
		}
		text += fmt.Sprintf("; the promise is %s: %s%% are within it, %s%% are promised", word, service.PercentText(*p.Share), service.PercentText(p.Wanted))
	case p != nil:
		text += "; whether the promise is kept is not known, for only means are"
	}
	if v := s.TTFT.Slowest(); v != nil {
		which := "p99"
		if s.TTFT.P99 == nil {
			which = "mean"
		}
		text += fmt.Sprintf("; %s to the first token %s", which, capcli.MicrosText(*v*1e6))
	}
	if s.Cost != nil {
		text += fmt.Sprintf("; %s", s.Cost)
		if s.PerMtok != nil {
			text += fmt.Sprintf(", %s a million tokens", s.PerMtok)
		} else if s.PerRequest != nil {
			text += fmt.Sprintf(", %s a thousand requests", s.PerRequest)
		}
	}
	return text + "."
}

// serviceWarnings say what must be known of services beside their figures: what was not served, what jobs
// paid for it, and how much is known.
func serviceWarnings(runs []*Run) []string {
	var out []string
	r := runs[0]
	for i := range r.Services {
		s := &r.Services[i]
		tell := func(format string, args ...any) { out = append(out, s.Name+": "+fmt.Sprintf(format, args...)) }
		if s.Requests == 0 && s.Capacity > 0 {
			tell("no request came in the time of the run")
		}
		if s.Missing > 0 {
			tell("replicas that were wanted had no room for %.1f GPU-hours in all", s.Missing.Hours())
		}
		if s.Backlog > 0 {
			tell("%s %s still waited at the end", capcli.Grouped(s.Backlog), capcli.Plural(s.Backlog, "request"))
		}
		if s.Displaced > 0 {
			tell("its replicas took the GPUs of running jobs %s %s, which had to do %.1f GPU-hours of work again", capcli.Grouped(s.Displaced), capcli.Plural(s.Displaced, "time"), s.Repeated.Hours())
		}
		if s.Lost > 0 {
			tell("%s %s lost with their nodes", capcli.Grouped(s.Lost), capcli.Agree(s.Lost, "replica was", "replicas were"))
		}
		switch {
		case s.Capacity == 0:
		case s.Level == service.LevelMeans:
			tell("only means are known, no percentiles: %s", s.Why)
		case s.Level == service.LevelSteps:
			tell("what single requests saw is not known: %s", s.Why)
		}
		out = append(out, s.Notes...)
	}
	return out
}
