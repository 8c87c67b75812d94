package service

import (
	"fmt"
	"math"

	"capcli"
	"capcli/profile/logs/requests"
	"capcli/simulate/serving"
	"capcli/simulate/serving/agents"
	"capcli/simulate/serving/traffic"
)

// maxAgentCalls limits the calls of the tasks of a service.
const maxAgentCalls = 20_000_000

// HasRequests reports whether the service says which requests come: those of a trace or a curve, or calls of
// agents.
func (s *Spec) HasRequests() bool { return s.Requests != nil || s.Agents != nil }

// agentTraffic returns the calls of the tasks as requests. A call takes as long as alone on a replica.
func (s *Spec) agentTraffic(o *Opening) (traffic.Source, error) {
	if len(s.Config.Time.Lin) == 0 {
		return nil, s.fault("agents", "agents wait for answers, and how long one takes is not known: give time, or a model and its GPUs")
	}
	own := *s.Agents
	list, err := own.Requests(o.Seed, s.aloneTime, maxAgentCalls)
	if err != nil {
		return nil, err
	}
	t := &requests.Trace{Rows: make([]requests.Row, len(list)), Start: requests.NoStart}
	for i, r := range list {
		t.Rows[i] = requests.Row{Arrival: r.Arrival, In: r.In, Out: r.Out, Cached: r.Cached, Prefix: r.Prefix}
	}
	o.note(s.Name, fmt.Sprintf("%s of agents make %s calls within %s, each as soon as those before it would be answered by a replica without other requests; where replicas fall behind, agents wait and send later than this",
		tasksText(&own), capcli.Grouped(int64(len(list))), capcli.Seconds((list[len(list)-1].Arrival+requests.Second-1)/requests.Second)))
	return traffic.Play(t, traffic.Replay{Cached: -1, Name: s.Name}, o.Seed)
}

func tasksText(w *agents.Workload) string {
	return capcli.Grouped(w.Tasks) + " " + capcli.Plural(w.Tasks, "task")
}

// aloneTime returns the microseconds that a request takes alone on a replica: its prompt in pieces of
// max_tokens, then a token an iteration. Iterations are not rounded to microseconds.
func (s *Spec) aloneTime(r serving.Request) int64 {
	t, chunk := &s.Config.Time, s.Config.MaxTokens
	if chunk <= 0 {
		chunk = usualTokens
	}
	ps := 0.0
	for k := min(r.Cached, r.In-1); k < r.In; {
		n := min(chunk, r.In-k)
		ps += float64(t.Picoseconds(n, 1, 0, n*(2*k+n+1)/2))
		k += n
	}
	steps := float64(r.Out - 1)
	attended := steps*float64(r.In) + steps*(steps+1)/2
	ps += steps*float64(t.Picoseconds(1, 1, 0, 0)) + float64(t.KV)*attended
	return int64(math.Ceil(ps / 1e6))
}
