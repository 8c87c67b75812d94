package play

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"capcli"
	"capcli/scenarios/outcome"
	"capcli/simulate/serving/service"
)

// mostLeads is the number of services up to which each has its own sentence.
const mostLeads = 5

// mostLate is the share of requests that may be late before a sentence says so.
const mostLate = 0.005

// ServicesLead says of each service of a case what requests saw and what it cost, in a sentence each, or of
// many services in one sentence; "" without services. Of several runs it describes the first.
func ServicesLead(runs []*Run) string {
	var out []string
	if list := runs[0].Services; len(list) > mostLeads {
		out = append(out, sumLead(list))
		if len(runs) > 1 {
			out[0] = "In the first run " + out[0]
		}
		return out[0]
	}
	for i := range runs[0].Services {
		out = append(out, serviceLead(&runs[0].Services[i]))
	}
	text := strings.Join(out, "\n")
	if text != "" && len(runs) > 1 {
		text = "In the first run:\n" + text
	}
	return text
}

// sumLead sums up many services.
func sumLead(list []outcome.Service) string {
	var requests, unserved, late, broken, promised int64
	var cost capcli.USD
	priced, worst, most := true, -1, 0.0
	for i := range list {
		s := &list[i]
		requests += s.Requests
		unserved += s.NotAnswered()
		late += s.Late
		if s.Promise != nil && s.Promise.Kept != nil {
			promised++
			if !*s.Promise.Kept {
				broken++
			}
		}
		if s.Cost == nil {
			priced = false
		} else {
			cost += *s.Cost
		}
		if share := s.LateShare(); share > most {
			worst, most = i, share
		}
	}
	text := fmt.Sprintf("%d services: %s %s", len(list), capcli.Grouped(requests), capcli.Plural(requests, "request"))
	if unserved > 0 {
		text += fmt.Sprintf(", %s of them not served", capcli.Grouped(unserved))
	}
	if requests > 0 && float64(late) > mostLate*float64(requests) {
		text += fmt.Sprintf("; %s%% are late, of %s the most with %s%%", service.PercentText(float64(late)/float64(requests)), list[worst].Name, service.PercentText(most))
	}
	if promised > 0 {
		text += fmt.Sprintf("; %d of %d promises are broken", broken, promised)
	}
	if priced {
		text += "; " + cost.String()
		if answered := requests - unserved; answered > 0 {
			text += fmt.Sprintf(", %s a thousand requests", capcli.USDOf(cost.Float()*1000/float64(answered)))
		}
	}
	return text + "."
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
	if share := s.LateShare(); s.Level != service.LevelRequests && share > mostLate {
		text += fmt.Sprintf(", %s%% are served late or not at all", service.PercentText(share))
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
	times, to := s.TTFT, "first token"
	if times == nil {
		times, to = s.E2E, "answer"
	}
	if v := times.Slowest(); v != nil {
		which := "p99"
		if times.P99 == nil {
			which = "mean"
		}
		text += fmt.Sprintf("; %s to the %s %s", which, to, capcli.MicrosText(*v*1e6))
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
	var out, texts []string
	names := map[string][]string{}
	r := runs[0]
	for i := range r.Services {
		s := &r.Services[i]
		tell := func(format string, args ...any) {
			text := fmt.Sprintf(format, args...)
			if names[text] == nil {
				texts = append(texts, text)
			}
			names[text] = append(names[text], s.Name)
		}
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
		for _, note := range s.Notes {
			if !slices.Contains(out, note) {
				out = append(out, note)
			}
		}
	}
	for i, text := range texts {
		list := names[text]
		texts[i] = strings.Join(list[:min(len(list), mostLeads)], ", ")
		if more := len(list) - mostLeads; more > 0 {
			texts[i] += fmt.Sprintf(" and %d more", more)
		}
		texts[i] += ": " + text
	}
	return append(texts, out...)
}
