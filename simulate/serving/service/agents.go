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
	"capcli/profile/logs/trace"
	"capcli/scenarios/strict"
	"capcli/simulate/serving/agents"
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

// AgentsSchema is the value of the member schema of an AgentsResult.
const AgentsSchema = "capcli/service_agents/v1"

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

// read reads the tasks of a request.
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
	r := &AgentsResult{Schema: AgentsSchema, Notes: []string{}}
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
