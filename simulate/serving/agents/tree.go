// Package agents draws the calls of tasks that agents work on: one request becomes a tree of calls to a
// model, most of them few, some of them hundreds. An agent calls the model turn by turn; a call may use a
// tool before the next one, and may start further agents whose results the next call waits for.
//
// No measured law of the number of calls of a task is public. The published work says that agents make many
// times more calls than a single answer and take 62 to 137 times its energy ("The Cost of Dynamic
// Reasoning", arXiv 2506.04301), and that most of a later turn's prompt is the turn before. The parameters
// are the user's, and so is their truth.
package agents

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"capcli"
	"capcli/simulate/serving"
)

// Params are the laws of a task. Numbers that vary follow the law of Pareto with the shape alpha between a
// least and a greatest value: the lesser alpha, the heavier the tail.
type Params struct {
	TurnAlpha    float64 `json:"turn_alpha"` // calls of one agent
	TurnMin      int64   `json:"turn_min"`
	TurnMax      int64   `json:"turn_max"`     // of the first agent
	SubTurnMax   int64   `json:"sub_turn_max"` // of agents that others start
	Spawn        float64 `json:"spawn"`        // probability that a call starts agents
	FanAlpha     float64 `json:"fan_alpha"`    // agents that one call starts, at least 1
	FanMax       int64   `json:"fan_max"`
	MaxDepth     int64   `json:"max_depth"` // of agents below the first
	MaxCalls     int64   `json:"max_calls"` // of a task
	SystemTokens int64   `json:"system_tokens"`
	TaskTokens   int64   `json:"task_tokens"`
	OutAlpha     float64 `json:"out_alpha"` // tokens of an answer
	OutMin       int64   `json:"out_min"`
	OutMax       int64   `json:"out_max"`
	ObsTokens    int64   `json:"obs_tokens"`    // that a tool adds to the prompt
	ResultTokens int64   `json:"result_tokens"` // that an agent adds to the prompt of the one that started it
	MaxContext   int64   `json:"max_context"`   // tokens of a prompt at most
	ToolAlpha    float64 `json:"tool_alpha"`    // time of a tool
	ToolMinMS    int64   `json:"tool_min_ms"`
	ToolMaxMS    int64   `json:"tool_max_ms"`
}

// Limits of Params: a tree must end, and its numbers must fit.
const (
	maxCalls  = 1_000_000
	maxDepth  = 1_000
	maxNumber = 1_000_000_000
)

// Check returns an error that names the first parameter with which a tree would not end or make no sense.
func (p *Params) Check() error {
	for _, f := range []struct {
		name string
		x    float64
	}{{"turn_alpha", p.TurnAlpha}, {"fan_alpha", p.FanAlpha}, {"out_alpha", p.OutAlpha}, {"tool_alpha", p.ToolAlpha}} {
		if !(f.x > 0) || math.IsInf(f.x, 1) {
			return &capcli.RequestError{Field: f.name, Text: fmt.Sprintf("wants a shape above 0, such as 1.2, found %v", f.x), Hint: "the lesser the shape, the heavier the tail"}
		}
	}
	if !(p.Spawn >= 0 && p.Spawn <= 1) {
		return &capcli.RequestError{Field: "spawn", Text: fmt.Sprintf("wants a probability between 0 and 1, found %v", p.Spawn)}
	}
	for _, f := range []struct {
		name      string
		x, lo, hi int64
	}{
		{"turn_min", p.TurnMin, 1, maxNumber},
		{"turn_max", p.TurnMax, p.TurnMin, maxNumber},
		{"sub_turn_max", p.SubTurnMax, 1, maxNumber},
		{"fan_max", p.FanMax, 1, maxNumber},
		{"max_depth", p.MaxDepth, 0, maxDepth},
		{"max_calls", p.MaxCalls, 1, maxCalls},
		{"system_tokens", p.SystemTokens, 0, maxNumber},
		{"task_tokens", p.TaskTokens, 0, maxNumber},
		{"out_min", p.OutMin, 1, maxNumber},
		{"out_max", p.OutMax, p.OutMin, maxNumber},
		{"obs_tokens", p.ObsTokens, 0, maxNumber},
		{"result_tokens", p.ResultTokens, 0, maxNumber},
		{"max_context", p.MaxContext, max(1, p.SystemTokens+p.TaskTokens), maxNumber},
		{"tool_min_ms", p.ToolMinMS, 0, maxNumber},
		{"tool_max_ms", p.ToolMaxMS, p.ToolMinMS, maxNumber},
	} {
		if f.x < f.lo || f.x > f.hi {
			return &capcli.RequestError{Field: f.name, Text: fmt.Sprintf("wants a whole number between %d and %d, found %d", f.lo, f.hi, f.x)}
		}
	}
	if p.SystemTokens+p.TaskTokens == 0 {
		return &capcli.RequestError{Field: "task_tokens", Text: "wants 1 token or more in the first prompt; system_tokens and task_tokens are both 0"}
	}
	return nil
}

// Call is one call of a task to the model. Calls are numbered from 0 in the order in which agents make them;
// a call that waits for others has a greater number than they.
type Call struct {
	ID     int32
	Parent int32 // the call that started its agent; -1 is none
	Depth  int32 // of its agent; 0 is the first one
	Turn   int32 // of its agent, from 0
	// After are the calls that must be done before it, sorted; -1 alone is none. Calls share it: do not change it.
	After   []int32
	ToolMS  int64 // milliseconds from the last of After to its start
	In, Out int64 // tokens of the prompt and of the answer
}

// tree draws the calls of one task.
type tree struct {
	*Params
	random SplitMix64
	calls  []Call
}

// Tree returns the calls of the task with the given seed. p must have passed Check.
func (p *Params) Tree(seed uint64) []Call { return p.appendTree(nil, seed) }

// appendTree appends the calls of a task to calls, which must be empty.
func (p *Params) appendTree(calls []Call, seed uint64) []Call {
	t := tree{Params: p, random: SplitMix64(seed), calls: calls}
	t.agent(-1, 0, []int32{-1}, 0)
	return t.calls
}

func (t *tree) isFull() bool { return int64(len(t.calls)) >= t.MaxCalls }

// agent adds the calls of one agent and of those that it starts. It returns the calls after which its work
// is done.
func (t *tree) agent(parent, depth int32, after []int32, tool int64) []int32 {
	most := t.SubTurnMax
	if depth == 0 {
		most = t.TurnMax
	}
	turns := pareto(t.random.Float(), t.TurnAlpha, t.TurnMin, most)
	context, prev := t.SystemTokens+t.TaskTokens, after
	for k := int64(0); k < turns && !t.isFull(); k++ {
		out := pareto(t.random.Float(), t.OutAlpha, t.OutMin, t.OutMax)
		id := int32(len(t.calls))
		t.calls = append(t.calls, Call{ID: id, Parent: parent, Depth: depth, Turn: int32(k), After: prev, ToolMS: tool, In: context, Out: out})
		context = min(t.MaxContext, context+out)
		prev = []int32{id}
		if int64(depth) < t.MaxDepth && k+1 < turns && t.random.Float() < t.Spawn {
			fan := pareto(t.random.Float(), t.FanAlpha, 1, t.FanMax)
			self := prev[:1:1]
			for i := int64(0); i < fan && !t.isFull(); i++ {
				prev = append(prev, t.agent(id, depth+1, self, 0)...)
			}
			slices.Sort(prev)
			prev = slices.Compact(prev)
			context = min(t.MaxContext, context+t.ResultTokens*fan)
		}
		tool = pareto(t.random.Float(), t.ToolAlpha, t.ToolMinMS, t.ToolMaxMS)
		context = min(t.MaxContext, context+t.ObsTokens)
	}
	return prev
}

// SplitMix64 is the generator of Steele, Lea and Flood ("Fast splittable pseudorandom number generators",
// OOPSLA 2014). Its value is the state; the first is the seed. Trees are drawn with it, because any program
// in any language can draw the same ones with a few lines.
type SplitMix64 uint64

// Next returns the next number.
func (s *SplitMix64) Next() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}

// Float returns a number in [0, 1), a multiple of 2^-53.
func (s *SplitMix64) Float() float64 { return float64(s.Next()>>11) / (1 << 53) }

// pareto returns a whole number of the law of Pareto with the shape alpha, from lo on and cut at hi, for u
// in [0, 1): min(hi, floor(lo / (1 - u)^(1/alpha))).
func pareto(u, alpha float64, lo, hi int64) int64 {
	x := math.Floor(float64(lo) / math.Pow(1-u, 1/alpha))
	if !(x < float64(hi)) {
		return hi
	}
	return int64(x)
}

// Stats describe the calls of a set of tasks.
type Stats struct {
	Tasks     int64   `json:"tasks"`
	Calls     int64   `json:"calls"`
	Mean      float64 `json:"mean"` // calls a task
	P50       int64   `json:"p50"`  // percentile p of n values is the ceil(p·n/100)-th smallest
	P90       int64   `json:"p90"`
	P99       int64   `json:"p99"`
	Max       int64   `json:"max"`
	TokensIn  int64   `json:"tokens_in"`
	TokensOut int64   `json:"tokens_out"`
}

// MaxTasks limits a set of tasks.
const MaxTasks = 10_000_000

// Draw draws tasks trees and returns their statistics; tree j has the seed seed + j. It gives each tree to
// each, in order, unless each is nil; the calls are valid until each returns. done, which may be nil,
// receives the number of finished trees.
func (p *Params) Draw(ctx context.Context, seed uint64, tasks int, each func(task int, calls []Call) error, done func(n int)) (Stats, error) {
	if err := p.Check(); err != nil {
		return Stats{}, err
	}
	if tasks < 1 || tasks > MaxTasks {
		return Stats{}, &capcli.RequestError{Field: "tasks", Text: ": wants a number of tasks between 1 and 10,000,000"}
	}
	s := Stats{Tasks: int64(tasks)}
	lengths := make([]int64, 0, tasks)
	batch := 64 * runtime.GOMAXPROCS(0)
	trees := make([][]Call, batch)
	for from := 0; from < tasks; from += batch {
		n := min(batch, tasks-from)
		err := capcli.EachParallel(ctx, n, func(_ context.Context, i int) error {
			trees[i] = p.appendTree(trees[i][:0], seed+uint64(from+i))
			return nil
		})
		if err != nil {
			return Stats{}, err
		}
		for i, calls := range trees[:n] {
			lengths = append(lengths, int64(len(calls)))
			for j := range calls {
				s.TokensIn += calls[j].In
				s.TokensOut += calls[j].Out
			}
			if each != nil {
				if err := each(from+i, calls); err != nil {
					return Stats{}, err
				}
			}
		}
		if done != nil {
			done(from + n)
		}
	}
	s.count(lengths)
	return s, nil
}

// count fills in what follows from the number of calls of each task.
func (s *Stats) count(lengths []int64) {
	slices.Sort(lengths)
	for _, n := range lengths {
		s.Calls += n
	}
	s.Mean = float64(s.Calls) / float64(s.Tasks)
	s.P50, s.P90, s.P99 = serving.Percentile(lengths, 50), serving.Percentile(lengths, 90), serving.Percentile(lengths, 99)
	s.Max = lengths[len(lengths)-1]
}
