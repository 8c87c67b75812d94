package agents

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"capcli"
)

// modest are the parameters of the tests: most tasks are short, a few start other agents.
func modest() Params {
	return Params{
		TurnAlpha: 1.2, TurnMin: 3, TurnMax: 60, SubTurnMax: 15, Spawn: 0.1, FanAlpha: 1.5, FanMax: 16, MaxDepth: 2,
		MaxCalls: 400, SystemTokens: 2000, TaskTokens: 500, OutAlpha: 1.5, OutMin: 80, OutMax: 4000, ObsTokens: 600,
		ResultTokens: 400, MaxContext: 131072, ToolAlpha: 1.1, ToolMinMS: 300, ToolMaxMS: 120000,
	}
}

// row is a call as the reference writes it.
type row [8]json.RawMessage

func (c *Call) row(t *testing.T) []byte {
	t.Helper()
	b, err := json.Marshal([]any{c.ID, c.Parent, c.Depth, c.Turn, c.After, c.ToolMS, c.In, c.Out})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestGolden(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "golden", "inference", "fanout.json.gz"))
	if errors.Is(err, os.ErrNotExist) {
		t.Skipf("no reference answers beside the checkout: %v", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		First []string `json:"splitmix_seed_1"`
		Sets  []struct {
			Name   string
			Params Params
			Seed   uint64
			Tasks  int
			Stats  Stats
			Trees  [][]row
		}
	}
	if err := json.NewDecoder(z).Decode(&file); err != nil {
		t.Fatal(err)
	}
	random := SplitMix64(1)
	for i, want := range file.First {
		if got := strconv.FormatUint(random.Next(), 10); got != want {
			t.Errorf("number %d is %s, want %s", i, got, want)
		}
	}
	if len(file.Sets) == 0 {
		t.Fatal("no sets")
	}
	for _, set := range file.Sets {
		got, err := set.Params.Draw(t.Context(), set.Seed, set.Tasks, func(task int, calls []Call) error {
			if task >= len(set.Trees) {
				return nil
			}
			if len(calls) != len(set.Trees[task]) {
				t.Errorf("%s: tree %d has %d calls, want %d", set.Name, task, len(calls), len(set.Trees[task]))
				return nil
			}
			for i, want := range set.Trees[task] {
				b, err := json.Marshal(want)
				if got := calls[i].row(t); err != nil || !bytes.Equal(got, b) {
					t.Errorf("%s: tree %d: %s, want %s", set.Name, task, got, b)
				}
			}
			return nil
		}, nil)
		if err != nil || got != set.Stats {
			t.Errorf("%s: %+v, %v\nwant %+v", set.Name, got, err, set.Stats)
		}
	}
}

// The first numbers of seed 1234567, as the generator's published test vectors have them.
func TestSplitMix64(t *testing.T) {
	random := SplitMix64(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := random.Next(); got != want {
			t.Errorf("number %d is %d, want %d", i, got, want)
		}
	}
}

func anyParams(r *rapid.T) Params {
	shape := func(name string) float64 { return rapid.Float64Range(0.05, 5).Draw(r, name) }
	number := func(name string, lo, hi int64) int64 { return rapid.Int64Range(lo, hi).Draw(r, name) }
	p := Params{
		TurnAlpha: shape("turn_alpha"), TurnMin: number("turn_min", 1, 5), Spawn: rapid.Float64Range(0, 1).Draw(r, "spawn"),
		FanAlpha: shape("fan_alpha"), FanMax: number("fan_max", 1, 20), MaxDepth: number("max_depth", 0, 5), MaxCalls: number("max_calls", 1, 500),
		SystemTokens: number("system", 0, 3000), TaskTokens: number("task", 1, 3000), OutAlpha: shape("out_alpha"), OutMin: number("out_min", 1, 50),
		ObsTokens: number("obs", 0, 1000), ResultTokens: number("result", 0, 1000), ToolAlpha: shape("tool_alpha"), ToolMinMS: number("tool_min", 0, 50),
	}
	p.TurnMax = p.TurnMin + number("turns", 0, 60)
	p.SubTurnMax = number("sub_turn_max", 1, 30)
	p.OutMax = p.OutMin + number("outs", 0, 5000)
	p.MaxContext = p.SystemTokens + p.TaskTokens + number("room", 0, 20000)
	p.ToolMaxMS = p.ToolMinMS + number("tools", 0, 5000)
	return p
}

func TestTreeLaws(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		p := anyParams(r)
		if err := p.Check(); err != nil {
			r.Fatal(err)
		}
		seed := rapid.Uint64().Draw(r, "seed")
		calls := p.Tree(seed)
		if len(calls) < 1 || int64(len(calls)) > p.MaxCalls {
			r.Fatalf("%d calls", len(calls))
		}
		for i := range calls {
			c := &calls[i]
			if int(c.ID) != i || c.Parent >= c.ID || c.Depth < 0 || int64(c.Depth) > p.MaxDepth || c.Parent == -1 != (c.Depth == 0) {
				r.Errorf("call %d: %+v", i, c)
			}
			if c.Parent >= 0 && calls[c.Parent].Depth != c.Depth-1 {
				r.Errorf("call %d at depth %d is started from depth %d", i, c.Depth, calls[c.Parent].Depth)
			}
			if len(c.After) == 0 || !slices.IsSorted(c.After) || len(slices.Compact(slices.Clone(c.After))) != len(c.After) || c.After[len(c.After)-1] >= c.ID {
				r.Errorf("call %d waits for %v", i, c.After)
			}
			if (c.After[0] == -1) != (i == 0) {
				r.Errorf("call %d waits for %v", i, c.After)
			}
			if c.In < 1 || c.In > p.MaxContext || c.Out < p.OutMin || c.Out > p.OutMax || c.ToolMS != 0 && (c.ToolMS < p.ToolMinMS || c.ToolMS > p.ToolMaxMS) {
				r.Errorf("call %d: %+v", i, c)
			}
		}
		again := p.Tree(seed)
		if !slices.EqualFunc(calls, again, func(a, b Call) bool {
			return a.ID == b.ID && a.In == b.In && a.Out == b.Out && slices.Equal(a.After, b.After)
		}) {
			r.Error("a second tree of one seed differs")
		}
	})
}

func TestCheck(t *testing.T) {
	for field, change := range map[string]func(*Params){
		"turn_alpha":    func(p *Params) { p.TurnAlpha = 0 },
		"fan_alpha":     func(p *Params) { p.FanAlpha = -1 },
		"out_alpha":     func(p *Params) { p.OutAlpha = 0 },
		"tool_alpha":    func(p *Params) { p.ToolAlpha = 0 },
		"spawn":         func(p *Params) { p.Spawn = 1.1 },
		"turn_min":      func(p *Params) { p.TurnMin = 0 },
		"turn_max":      func(p *Params) { p.TurnMax = 2 },
		"sub_turn_max":  func(p *Params) { p.SubTurnMax = 0 },
		"fan_max":       func(p *Params) { p.FanMax = 0 },
		"max_depth":     func(p *Params) { p.MaxDepth = maxDepth + 1 },
		"max_calls":     func(p *Params) { p.MaxCalls = maxCalls + 1 },
		"system_tokens": func(p *Params) { p.SystemTokens = -1 },
		"task_tokens":   func(p *Params) { p.SystemTokens, p.TaskTokens = 0, 0 },
		"out_min":       func(p *Params) { p.OutMin = 0 },
		"out_max":       func(p *Params) { p.OutMax = 79 },
		"max_context":   func(p *Params) { p.MaxContext = 2499 },
		"tool_max_ms":   func(p *Params) { p.ToolMaxMS = 0 },
	} {
		p := modest()
		change(&p)
		var r *capcli.RequestError
		if err := p.Check(); !errors.As(err, &r) || r.Field != field {
			t.Errorf("%s: %v", field, err)
		}
	}
	p := modest()
	if err := p.Check(); err != nil {
		t.Error(err)
	}
	if _, err := p.Draw(t.Context(), 1, 0, nil, nil); err == nil {
		t.Error("no tasks are accepted")
	}
}

// The worst parameters that pass Check still end.
func TestWorstTreeEnds(t *testing.T) {
	p := modest()
	p.Spawn, p.FanAlpha, p.TurnAlpha, p.MaxDepth, p.FanMax, p.TurnMax, p.SubTurnMax, p.MaxCalls = 1, 1e-9, 1e-9, maxDepth, maxNumber, maxNumber, maxNumber, 100_000
	if n := len(p.Tree(1)); n != 100_000 {
		t.Errorf("%d calls", n)
	}
}

func BenchmarkDraw(b *testing.B) {
	p := modest()
	for b.Loop() {
		if _, err := p.Draw(context.Background(), 1, 1000, nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
