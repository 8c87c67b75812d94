package service

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/profile/logs/requests"
	"capcli/profile/logs/trace"
	"capcli/scenarios/strict"
	"capcli/simulate/serving"
	"capcli/simulate/serving/agents"
	"capcli/simulate/serving/traffic"
)

// agentsStart has what the fields of agents: are where they are not given.
var agentsStart = agents.Workload{Tasks: 1000, Seed: 1, Ramp: 60, Reuses: true}

// agentsSection reads the tasks of agents, in a service block or in a file of their own.
var agentsSection = strict.Section[agents.Workload]{
	Name: "agents", Start: agentsStart, Fields: agentsFields, Check: checkAgents,
	Needs: agentsNeeds,
}

// agentsNeeds are the parameters of a tree. No measured law is public, so none has a default.
var agentsNeeds = []string{
	"turn_alpha", "turn_min", "turn_max", "sub_turn_max", "spawn", "fan_alpha", "fan_max", "max_depth", "max_calls", "system_tokens", "task_tokens",
	"out_alpha", "out_min", "out_max", "obs_tokens", "result_tokens", "max_context", "tool_alpha", "tool_min_ms", "tool_max_ms",
}

func agentsFields(w *agents.Workload) []strict.Field {
	p := &w.Params
	whole := func(dst *int64) strict.Reader { return strict.Integer(dst, math.MinInt64, math.MaxInt64) }
	shape := func(dst *float64) strict.Reader { return strict.Number(dst, -1e9, 1e9) }
	return []strict.Field{
		{"rate", "tasks that begin: 0.5/s, 30/min", readRate(&w.Rate)},
		{"workflows", "or tasks at work at once: as one ends, the next begins", strict.Integer(&w.Workflows, 1, agents.MaxTasks)},
		{"ramp", "time over which the first of the workflows begin; default 1m", readRamp(&w.Ramp)},
		{"tasks", "tasks in all; default 1000", strict.Integer(&w.Tasks, 1, agents.MaxTasks)},
		{"seed", "of the first task's tree; that of task j is seed + j; default 1", readSeed(&w.Seed)},
		{"prefix_cache", "whether the cache of a replica supplies what the turn before sent and got; default true", strict.Bool(&w.Reuses)},

		{"turn_alpha", "calls of an agent: shape of their Pareto law; the lesser, the heavier the tail", shape(&p.TurnAlpha)},
		{"turn_min", "the fewest calls of an agent", whole(&p.TurnMin)},
		{"turn_max", "the most calls of a task's first agent", whole(&p.TurnMax)},
		{"sub_turn_max", "the most calls of an agent that another starts", whole(&p.SubTurnMax)},
		{"spawn", "probability that a call starts agents", shape(&p.Spawn)},
		{"fan_alpha", "agents that one call starts: shape of their law", shape(&p.FanAlpha)},
		{"fan_max", "the most agents that one call starts", whole(&p.FanMax)},
		{"max_depth", "agents below the first; 0 is none", whole(&p.MaxDepth)},
		{"max_calls", "the most calls of a task", whole(&p.MaxCalls)},
		{"system_tokens", "tokens of the system's prompt", whole(&p.SystemTokens)},
		{"task_tokens", "tokens of the task", whole(&p.TaskTokens)},
		{"out_alpha", "tokens of an answer: shape of their law", shape(&p.OutAlpha)},
		{"out_min", "the shortest answer", whole(&p.OutMin)},
		{"out_max", "the longest answer", whole(&p.OutMax)},
		{"obs_tokens", "tokens that a tool adds to the prompt", whole(&p.ObsTokens)},
		{"result_tokens", "tokens that an agent adds to the prompt of the one that started it", whole(&p.ResultTokens)},
		{"max_context", "tokens of a prompt at most: older ones are dropped", whole(&p.MaxContext)},
		{"tool_alpha", "time of a tool: shape of its law", shape(&p.ToolAlpha)},
		{"tool_min_ms", "the shortest time of a tool in milliseconds", whole(&p.ToolMinMS)},
		{"tool_max_ms", "the longest time of a tool in milliseconds", whole(&p.ToolMaxMS)},
	}
}

// readSeed reads the seed of trees, below 2^64.
func readSeed(dst *uint64) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		s := capcli.Seed(*dst)
		strict.Seed(&s)(d, n)
		*dst = uint64(s)
	}
}

// readRamp reads a length of time, in seconds.
func readRamp(dst *float64) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		t := capcli.Seconds(*dst)
		strict.Duration(&t, 0)(d, n)
		*dst = float64(t)
	}
}

// checkAgents puts the first fault of the tasks at its field.
func checkAgents(o *strict.Object, w *agents.Workload) {
	for _, name := range agentsNeeds {
		if !o.Has(name) || !o.IsClean(name) {
			return
		}
	}
	err := w.Params.Check()
	if o.Has("rate") && o.Has("workflows") {
		o.FaultName("workflows", "rate and workflows both say when tasks begin; leave one out")
	}
	if fault, ok := errors.AsType[*capcli.RequestError](err); ok {
		o.Fault(fault.Field, "%s", fault.Error())
	}
}

func (s *Spec) agentsFields() []strict.Field {
	return []strict.Field{{"agents", "tasks of agents, each a tree of calls, in place of requests", agentsSection.Pointer(&s.Agents)}}
}

func (s *Spec) checkAgents(o *strict.Object) {
	w := s.Agents
	if w == nil || !o.IsClean("agents") {
		return
	}
	if o.Has("requests") {
		o.FaultName("agents", "requests and agents both say what comes; leave one out")
	}
	if w.Rate == 0 && w.Workflows == 0 {
		o.Fault("agents", "agents needs rate (tasks a second, such as 0.5/s) or workflows (tasks at work at once)")
	}
}

// agentsForm is a file with the parameters of tasks by themselves.
var agentsForm = strict.Form{What: "the parameters of agents' tasks", Template: "capcli service agents --help"}

// parseAgents reads the tasks of agents from a file of their parameters, or from a service block that has
// agents. The error is *strict.Faults.
func parseAgents(file string, b []byte) (*agents.Workload, error) {
	d := &strict.Decoder{Form: &agentsForm}
	root := d.ReadTree(b)
	if root != nil && root.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(root.Content); i += 2 {
			if root.Content[i].Value == "agents" {
				return parseServiceAgents(file, b)
			}
		}
	}
	w := agentsStart
	if root != nil {
		agentsSection.Read(d, root, &w)
	}
	if d.FaultCount() > 0 {
		return nil, d.Refusal(file, "every parameter with its meaning: docs/services.md, Agents")
	}
	return &w, nil
}

func parseServiceAgents(file string, b []byte) (*agents.Workload, error) {
	s, err := Parse(file, b)
	if err != nil {
		return nil, err
	}
	return s.Agents, nil
}

// AgentsRequest asks for the calls of tasks, and what a service makes of them.
type AgentsRequest struct {
	Params string // file of parameters, or of a service with agents
	Tasks  int    // 0 takes those of the file
	Seed   string // of the first tree; "" takes that of the file
	Play   PlayRequest
}

// AgentsResult is the answer. Its statistics have the names of the reference.
type AgentsResult struct {
	Schema string `json:"schema"`
	agents.Stats
	Plays []Play   `json:"plays,omitempty"` // by number of workflows
	Notes []string `json:"notes"`
}

func (q *AgentsRequest) read(open trace.Opener) (*agents.Workload, error) {
	text, err := open.ReadFile(q.Params, strict.MaxBytes+1)
	if err != nil {
		return nil, err
	}
	w, err := parseAgents(q.Params, text)
	if err != nil {
		return nil, err
	}
	if q.Tasks < 0 || q.Tasks > agents.MaxTasks {
		return nil, &capcli.RequestError{Field: "tasks", Text: fmt.Sprintf("wants a number of tasks between 1 and %d, found %d", agents.MaxTasks, q.Tasks)}
	}
	if q.Tasks > 0 {
		w.Tasks = int64(q.Tasks)
	}
	if q.Seed != "" {
		if w.Seed, err = strconv.ParseUint(q.Seed, 10, 64); err != nil {
			return nil, &capcli.RequestError{Field: "seed", Text: "wants a whole number below 2^64, found " + capcli.Quoted(q.Seed)}
		}
	}
	return w, nil
}

// DrawAgents draws the tasks and writes their calls as CSV to calls, unless it is nil.
func DrawAgents(ctx context.Context, q *AgentsRequest, open trace.Opener, calls io.Writer, done func(n int64)) (*AgentsResult, error) {
	w, err := q.read(open)
	if err != nil {
		return nil, err
	}
	var each func(task int, calls []agents.Call) error
	out := bufio.NewWriter(io.Discard)
	if calls != nil {
		out.Reset(calls)
		if _, err := out.WriteString(callColumns); err != nil {
			return nil, err
		}
		var line []byte
		each = func(task int, calls []agents.Call) error {
			for i := range calls {
				line = appendCall(line[:0], task, &calls[i])
				if _, err := out.Write(line); err != nil {
					return err
				}
			}
			return nil
		}
	}
	r := &AgentsResult{Schema: "capcli/service_agents/v1", Notes: []string{}}
	r.Stats, err = w.Params.Draw(ctx, w.Seed, int(w.Tasks), each, func(n int) { done(int64(n)) })
	if err != nil {
		return nil, err
	}
	if err := out.Flush(); err != nil {
		return nil, err
	}
	return r, q.Play.run(ctx, open, w, r)
}

// callColumns is the header of the calls.
const callColumns = "task,id,parent,depth,turn,after,tool_ms,tokens_in,tokens_out\n"

// appendCall appends the row of a call; after has the calls that it waits for, with blanks between.
func appendCall(line []byte, task int, c *agents.Call) []byte {
	for _, v := range [...]int64{int64(task), int64(c.ID), int64(c.Parent), int64(c.Depth), int64(c.Turn)} {
		line = append(strconv.AppendInt(line, v, 10), ',')
	}
	for i, a := range c.After {
		if i > 0 {
			line = append(line, ' ')
		}
		line = strconv.AppendInt(line, int64(a), 10)
	}
	for _, v := range [...]int64{c.ToolMS, c.In, c.Out} {
		line = strconv.AppendInt(append(line, ','), v, 10)
	}
	return append(line, '\n')
}

// Lead returns the answer in a sentence or two.
func (r *AgentsResult) Lead() string {
	text := fmt.Sprintf("%s %s make %s calls: half of them at most %s, one in a hundred %s and more, the longest %s. They send %s tokens and get %s.",
		capcli.Grouped(r.Tasks), capcli.Plural(r.Tasks, "task"), capcli.Grouped(r.Calls), capcli.Grouped(r.P50), capcli.Grouped(r.P99), capcli.Grouped(r.Max),
		capcli.Grouped(r.TokensIn), capcli.Grouped(r.TokensOut))
	if n := len(r.Plays); n > 0 {
		text += " " + r.Plays[n-1].lead()
	}
	return text
}

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

// PlayRequest asks what a service makes of tasks.
type PlayRequest struct {
	Spec      string  // file of the service; "" plays nothing
	Workflows []int64 // tasks at work at once, each a play of its own; nil takes what the tasks' file says
	Replicas  int     // 0 finds the fewest that keep the promise
}

// Play is what a service makes of tasks. Times are microseconds.
type Play struct {
	Workflows int64   `json:"workflows,omitempty"` // tasks at work at once
	Rate      float64 `json:"rate,omitempty"`      // or tasks that begin in a second
	Replicas  int     `json:"replicas"`
	Fewest    bool    `json:"fewest"` // whether fewer replicas break the promise
	GPUs      int64   `json:"gpus"`
	Promise   Kept    `json:"promise"`
	agents.Played
	Summary serving.Summary `json:"summary"` // of the calls
}

// TasksOf returns how many tasks a play has: at least three for each that is at work at once, so that the
// start and the end are not all there is.
func TasksOf(w *agents.Workload) int64 { return max(w.Tasks, 3*w.Workflows) }

// run plays the tasks and adds the plays to r.
func (q *PlayRequest) run(ctx context.Context, open trace.Opener, w *agents.Workload, r *AgentsResult) error {
	if q.Spec == "" {
		if len(q.Workflows) > 0 || q.Replicas != 0 {
			return &capcli.RequestError{Field: "play", Text: "wants the service that answers the calls", Hint: "--play SPEC, a service block: capcli service init"}
		}
		return nil
	}
	if q.Replicas < 0 || q.Replicas > serving.MaxReplicas {
		return &capcli.RequestError{Field: "replicas", Text: fmt.Sprintf("wants 1 to %d, found %d", serving.MaxReplicas, q.Replicas)}
	}
	s, err := ReadSpec(open, q.Spec)
	if err != nil {
		return err
	}
	var loads []agents.Workload
	for _, n := range q.Workflows {
		own := *w
		own.Rate, own.Workflows = 0, n
		loads = append(loads, own)
	}
	if len(loads) == 0 {
		loads = append(loads, *w)
	}
	for _, own := range loads {
		own.Tasks = TasksOf(&own)
		if err := own.Check(); err != nil {
			return err
		}
		p, err := s.PlayAgents(ctx, &own, q.Replicas)
		if err != nil {
			return capcli.NameFile(err, q.Spec)
		}
		r.Plays = append(r.Plays, *p)
		if p.Failed > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("%s of %s tasks at %s failed: a call was too long for the model or the cache; raise max_len, or lower max_context", capcli.Grouped(p.Failed), capcli.Grouped(p.Tasks), p.load()))
		}
	}
	if w.Reuses {
		r.Notes = append(r.Notes, "the cache is taken to keep each agent's last turn; a cache that is short of room makes prompts, and GPUs, more (prefix_cache: false is the worst case)")
	}
	return nil
}

// PlayAgents plays tasks on a number of replicas, or for 0 on the fewest that keep the
// promise of the service. It fails with a *capcli.ResultError where none do.
func (s *Spec) PlayAgents(ctx context.Context, w *agents.Workload, replicas int) (*Play, error) {
	if replicas > 0 {
		return s.playOn(ctx, w, replicas)
	}
	if l := s.Config.SLO; l.TTFT == 0 && l.TPOT == 0 && l.E2E == 0 {
		return nil, &capcli.RequestError{Field: "slo", Text: "wants a limit of a call: ttft, tpot or e2e; without one, one replica is enough for everything", Hint: "or give the number of replicas"}
	}
	var kept *Play
	broken, most := 0, min(serving.MaxReplicas, int(4*w.Workflows)+64)
	for n := 1; kept == nil; n = min(2*n, most) {
		p, err := s.playOn(ctx, w, n)
		switch {
		case err != nil:
			return nil, err
		case p.Promise.Kept:
			kept = p
		case n == most:
			return nil, &capcli.ResultError{
				Kind: capcli.NoPlan, Text: fmt.Sprintf("%d replicas still keep the promise for only %s of the calls of %s, and %s is wanted", n, percent(float64(p.Promise.Found)), p.load(), percent(p.Promise.Share)),
				Hint: "the promise may be closer than a call alone on a replica takes",
			}
		default:
			broken = n
		}
	}
	for broken+1 < kept.Replicas {
		p, err := s.playOn(ctx, w, broken+(kept.Replicas-broken)/2)
		switch {
		case err != nil:
			return nil, err
		case p.Promise.Kept:
			kept = p
		default:
			broken = p.Replicas
		}
	}
	kept.Fewest = true
	return kept, nil
}

// playOn plays tasks on replicas that are all ready from the start on.
func (s *Spec) playOn(ctx context.Context, w *agents.Workload, replicas int) (*Play, error) {
	own := *s
	own.SetReplicas(replicas)
	c, err := own.Servable()
	if err != nil {
		return nil, err
	}
	_, played, r, err := agents.Play(ctx, c, w, capcli.Seed(w.Seed))
	if err != nil {
		return nil, err
	}
	p := &Play{Workflows: w.Workflows, Rate: w.Rate, Replicas: replicas, GPUs: c.GPUs * int64(replicas), Played: *played, Summary: r.Summary}
	p.Promise = Kept{TTFT: c.SLO.TTFT, TPOT: c.SLO.TPOT, E2E: c.SLO.E2E, Share: float64(s.Share) / 1000, Found: r.Summary.SLOShare}
	p.Promise.Kept = p.Promise.HasLimit() && r.Summary.SLOMet*1000 >= s.Share*r.Summary.Requests
	return p, nil
}

// load says what was played.
func (p *Play) load() string {
	if p.Workflows > 0 {
		return capcli.Grouped(p.Workflows) + " " + capcli.Plural(p.Workflows, "workflow")
	}
	return fmt.Sprintf("%g tasks a second", p.Rate)
}

func (p *Play) lead() string {
	fleet := fmt.Sprintf("%s %s (%s %s)", capcli.Grouped(int64(p.Replicas)), capcli.Plural(int64(p.Replicas), "replica"), capcli.Grouped(p.GPUs), capcli.Plural(p.GPUs, "GPU"))
	text := fmt.Sprintf("%s on %s: a task takes %s in the mean and %s at p99.", p.load(), fleet, capcli.MicrosText(float64(p.TaskMean)), capcli.MicrosText(float64(p.TaskP99)))
	switch {
	case p.Finished == 0:
		return fmt.Sprintf("%s on %s: no task was finished.", p.load(), fleet)
	case p.Fewest:
		return text + " Fewer break the promise."
	case p.Promise.HasLimit() && !p.Promise.Kept:
		return text + fmt.Sprintf(" The promise is broken: %s of the calls are within it, %s wanted.", percent(float64(p.Promise.Found)), percent(p.Promise.Share))
	}
	return text
}

// Count returns the workflows of a play; nil where tasks came at a rate.
func (p *Play) Count() *int64 {
	if p.Workflows == 0 {
		return nil
	}
	return &p.Workflows
}
