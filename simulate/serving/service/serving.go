package service

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"capcli"
	"capcli/scenarios/strict"
	"capcli/simulate/serving"
)

// Serving says how a service answers requests.
type Serving struct {
	Config serving.Config
	Share  int64  // of requests that must be within Config.SLO, in thousandths
	Key    string // whose coefficients Config.Time has, gpu/model/tpN/dtype, where the file says

	Prefill *Prefill // replicas for prompts alone; nil computes them where answers are made

	isServable bool // whether Config is complete
}

// Prefill says how the replicas for prompts differ from those of the service, which then only decode.
type Prefill struct {
	Config             serving.Config
	Transfer, PerToken int64 // microseconds to send a KV cache, and nanoseconds more for each token
}

// usualServing has the settings of vLLM where a service does not say otherwise. Tokens of an iteration and
// the longest request depend on other fields.
var usualServing = Serving{Config: serving.Config{Policy: "chunked", BlockSize: 16, MaxSeqs: 256, Router: "round_robin", GPUs: 1}, Share: 990}

const usualTokens = 2048 // of an iteration of chunked

func (s *Spec) servingFields() []strict.Field {
	c := &s.Config
	return []strict.Field{
		{"policy", "how sequences share an iteration: " + strings.Join(serving.Batchings.Names(), ", "), s.readPolicy},
		{"batching", "the same", s.readBatching},
		{"time", "time of an iteration in picoseconds: c0 + max of lin (b + s*T) + seq*S + kv*KV + pa*PA", timeSection.Reader(&c.Time)},
		{"batch_time", "for a model without tokens, such as a recommender: time of a batch of so many requests, as measured: {1: 4ms, 32: 9ms, 256: 40ms}", s.readBatchTime},
		{"model_key", "whose coefficients time has, for the reader: gpu/model/tpN/dtype", strict.Text(&s.Key, strict.MaxName)},
		{"block_size", "tokens of a block of the KV cache", strict.Integer(&c.BlockSize, 1, serving.MaxBlockSize)},
		{"blocks", "blocks of the KV cache of a replica", strict.Integer(&c.Blocks, 0, maxCount)},
		{"watermark", "blocks that admission leaves free", strict.Integer(&c.Watermark, 0, maxCount)},
		{"max_tokens", "tokens of an iteration", strict.Integer(&c.MaxTokens, 1, maxCount)},
		{"max_seqs", "sequences that run at once on a replica", strict.Integer(&c.MaxSeqs, 1, 1<<31)},
		{"max_len", "tokens of the longest request, prompt and answer together", strict.Integer(&c.MaxLen, 2, maxCount)},
		{"router", "which replica a request goes to: " + strings.Join(serving.Routers.Names(), ", "), strict.Choice(&c.Router, "router", serving.Routers.Names()...)},
		{"prefix_bound", "prefix_aware: most load of a replica, as a factor of the mean: 1.25", strict.Value(&c.Bound, "a factor from 1 on", "a factor from 1 to 1000, such as 1.25", parseBound)},
		{"prefix_cache", "shared: cached tokens are there on every replica; replica: only where the prefix was computed", readPrefixCache(&c.OwnPrefix)},
		{"prefill", "replicas for prompts alone: {replicas: 2, max_tokens: 8192, transfer: 5ms, transfer_per_token: 2us}; what it leaves out is as for the service", s.readPrefill},
		{"replicas", "a number, or a list of replicas with ready, drain and down in microseconds or as 90s", readReplicas(&c.Replicas)},
		{"gpus", "GPUs of a replica", strict.Integer(&c.GPUs, 1, 4096)},
		{"price", "US dollars of a GPU-hour", price(&c.Price)},
		{"cold", "time before a replica is ready for which it is paid, in microseconds or as 3m", lengthOfTime(&c.Cold, true)},
		{"slo", "limits for each request in microseconds: ttft, tpot, e2e", promise("slo", true).Reader(&s.Serving)},
		{"promise", "limits for each request, and the share of requests that must be within them", promise("promise", false).Reader(&s.Serving)},
	}
}

const maxCount = 1 << 40

var timeSection = strict.Section[serving.Time]{
	Name: "time",
	Fields: func(t *serving.Time) []strict.Field {
		return []strict.Field{
			{"c0", "picoseconds of every iteration", strict.Integer(&t.C0, 0, math.MaxInt64)},
			{"lin", "one to three pairs [b, s] of picoseconds: the longest b + s times the tokens counts", readPairs(&t.Lin)},
			{"seq", "picoseconds of each sequence", strict.Integer(&t.Seq, 0, math.MaxInt64)},
			{"kv", "picoseconds of each token that decoding attends to", strict.Integer(&t.KV, 0, math.MaxInt64)},
			{"pa", "picoseconds of each pair of tokens of a prompt", strict.Integer(&t.PA, 0, math.MaxInt64)},
		}
	},
	Needs: []string{"lin"},
}

// readPairs reads a list of one to three pairs.
func readPairs(dst *[][2]int64) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		*dst = nil
		d.ReadList(n, 3, "pairs [b, s]", func(_ int, n *yaml.Node) {
			var p []int64
			d.ReadList(n, 2, "two numbers: b, s", func(_ int, n *yaml.Node) {
				var v int64
				strict.Integer(&v, math.MinInt64, math.MaxInt64)(d, n)
				p = append(p, v)
			})
			if len(p) == 2 {
				*dst = append(*dst, [2]int64(p))
			} else if n.Kind == yaml.SequenceNode && !d.IsDescribing(n) {
				d.Fault(n, "a pair has two numbers: picoseconds, and picoseconds of a token")
			}
		})
		if n.Kind == yaml.SequenceNode && len(n.Content) == 0 && !d.IsDescribing(n) {
			d.Fault(n, "lin has no pair; want one to three")
		}
	}
}

func (s *Spec) readBatching(d *strict.Decoder, n *yaml.Node) {
	strict.Choice(&s.Config.Policy, "batching", serving.Batchings.Names()...)(d, n)
}

// readReplicas reads a number of replicas that are ready from the start on, or a list of their lives.
func readReplicas(dst *[]serving.Replica) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		if n.Kind == yaml.SequenceNode {
			*dst = nil
			replicaSection.List(dst, serving.MaxReplicas, "replicas")(d, n)
			return
		}
		count := 0
		strict.Integer(&count, 0, serving.MaxReplicas)(d, n)
		*dst = readyReplicas(count)
	}
}

// readyReplicas returns n replicas that are ready from the start on.
func readyReplicas(n int) []serving.Replica {
	return slices.Repeat([]serving.Replica{{Drain: -1, Down: -1}}, n)
}

// parseBound reads a factor as thousandths.
func parseBound(text string) (int64, bool) {
	v, err := strconv.ParseFloat(text, 64)
	return int64(math.Round(v * 1000)), err == nil && v >= 1 && v <= 1000
}

// readPrefixCache reads shared or replica.
func readPrefixCache(own *bool) strict.Reader {
	return func(d *strict.Decoder, n *yaml.Node) {
		word := ""
		strict.Choice(&word, "prefix cache", "shared", "replica")(d, n)
		*own = word == "replica"
	}
}

// prefillFields are the fields that replicas for prompts may have of their own.
func prefillFields(p *Prefill) []strict.Field {
	c := &p.Config
	return []strict.Field{
		{"replicas", "a number, or a list of lives as for the service", readReplicas(&c.Replicas)},
		{"batching", "how prompts share an iteration", strict.Choice(&c.Policy, "batching", serving.Batchings.Names()...)},
		{"time", "time of an iteration, as for the service", timeSection.Reader(&c.Time)},
		{"blocks", "blocks of the KV cache of a replica", strict.Integer(&c.Blocks, 1, maxCount)},
		{"watermark", "blocks that admission leaves free", strict.Integer(&c.Watermark, 0, maxCount)},
		{"max_tokens", "tokens of an iteration", strict.Integer(&c.MaxTokens, 1, maxCount)},
		{"max_seqs", "prompts that run at once on a replica", strict.Integer(&c.MaxSeqs, 1, 1<<31)},
		{"router", "which replica a prompt goes to", strict.Choice(&c.Router, "router", serving.Routers.Names()...)},
		{"gpus", "GPUs of a replica", strict.Integer(&c.GPUs, 1, 4096)},
		{"transfer", "time to send the KV cache of any prompt: 5ms", lengthOfTime(&p.Transfer, false)},
		{"transfer_per_token", "more for each token of the prompt, in whole nanoseconds: 2us", strict.Value(&p.PerToken, "a length of time such as 2us", "a length of time such as 2us or 500ns, at most a second", parseNanos)},
	}
}

// parseNanos reads a length of time of at most a second as nanoseconds.
func parseNanos(text string) (int64, bool) {
	v, err := time.ParseDuration(text)
	return v.Nanoseconds(), err == nil && v >= 0 && v <= time.Second
}

// readPrefill notes which fields prefill has. checkServing fills in the others.
func (s *Spec) readPrefill(d *strict.Decoder, n *yaml.Node) {
	s.Prefill = &Prefill{}
	section := strict.Section[Prefill]{Name: "prefill", Fields: prefillFields, Needs: []string{"replicas"}}
	section.Read(d, n, s.Prefill)
}

// completePrefill takes what prefill leaves out from the service.
func (s *Spec) completePrefill() {
	if s.Prefill == nil {
		return
	}
	c, own := &s.Prefill.Config, s.Config
	own.Policy, own.Router = cmp.Or(c.Policy, own.Policy), cmp.Or(c.Router, own.Router)
	own.Blocks, own.Watermark = cmp.Or(c.Blocks, own.Blocks), cmp.Or(c.Watermark, own.Watermark)
	own.MaxTokens, own.MaxSeqs, own.GPUs = cmp.Or(c.MaxTokens, own.MaxTokens), cmp.Or(c.MaxSeqs, own.MaxSeqs), cmp.Or(c.GPUs, own.GPUs)
	own.Replicas = c.Replicas
	if len(c.Time.Lin) > 0 {
		own.Time = c.Time
	}
	*c = own
}

var replicaSection = strict.Section[serving.Replica]{
	Name:  "a replica",
	Start: serving.Replica{Drain: -1, Down: -1},
	Fields: func(r *serving.Replica) []strict.Field {
		return []strict.Field{
			{"ready", "when it takes requests", lengthOfTime(&r.Ready, true)},
			{"drain", "from when on it takes no more, and finishes those it has", lengthOfTime(&r.Drain, true)},
			{"down", "when it is lost with all it has", lengthOfTime(&r.Down, true)},
		}
	},
}

// promise reads the limits of requests. bare allows whole numbers, which are microseconds.
func promise(name string, bare bool) *strict.Section[Serving] {
	return &strict.Section[Serving]{Name: name, Fields: func(s *Serving) []strict.Field {
		l := &s.Config.SLO
		return []strict.Field{
			{"ttft", "most time to the first token: 200ms", lengthOfTime(&l.TTFT, bare)},
			{"tpot", "most mean time of a token after the first: 50ms", lengthOfTime(&l.TPOT, bare)},
			{"e2e", "most time to the last token: 10s", lengthOfTime(&l.E2E, bare)},
			{"share", "of the requests that must be within the limits: 99%, to a tenth", strict.Value(&s.Share, "a percentage such as 99%", "a percentage from 0% to 100%, to a tenth, such as 99% or 99.9%", parseThousandths)},
		}
	}}
}

// parseThousandths reads a percentage to a tenth.
func parseThousandths(text string) (int64, bool) {
	v, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	n := int64(math.Round(v * 10))
	return n, err == nil && strings.HasSuffix(text, "%") && v >= 0 && v <= 100 && math.Abs(v*10-float64(n)) < 1e-6
}

// lengthOfTime reads a length of time as microseconds. bare allows a whole number, which is microseconds.
func lengthOfTime(dst *int64, bare bool) strict.Reader {
	form := "a length of time with its unit, such as 200ms, 90s or 3m"
	if bare {
		form += ", or whole microseconds"
	}
	return strict.Value(dst, form, form, func(text string) (int64, bool) { return parseMicros(text, bare) })
}

// parseMicros reads a length of time as microseconds.
func parseMicros(text string, bare bool) (int64, bool) {
	const longest = int64(strict.Longest) * 1_000_000
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		return v, (bare || v == 0) && v >= 0 && v <= longest
	}
	if v, err := time.ParseDuration(text); err == nil {
		return v.Microseconds(), v >= 0 && v.Microseconds() <= longest && v%time.Microsecond == 0
	}
	v, err := capcli.ParseSeconds(text)
	return int64(v) * 1_000_000, err == nil && v >= 0 && v <= strict.Longest
}

// price reads the dollars of a GPU-hour: 2.5, or 2.50 USD.
func price(dst *float64) strict.Reader {
	form := "US dollars of a GPU-hour, such as 2.50 USD"
	return strict.Value(dst, form, form, func(text string) (float64, bool) {
		text = strings.TrimPrefix(strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(text, "/h"), "USD")), "$")
		v, err := strconv.ParseFloat(text, 64)
		return v, err == nil && v >= 0 && v <= 1e6
	})
}

// checkServing completes the configuration, and checks it where it is complete: a service that is only
// scaled has none.
func (s *Spec) checkServing(o *strict.Object) {
	c := &s.Config
	for _, twice := range [][2]string{{"cold", "cold_start"}, {"cold", "cold_steps"}, {"slo", "promise"}} {
		if o.Has(twice[0]) && o.Has(twice[1]) {
			o.FaultName(twice[1], "%s and %s say the same; give one", twice[0], twice[1])
		}
	}
	switch {
	case s.ColdStart > 0:
		c.Cold = int64(s.ColdStart) * 1_000_000
	case s.ColdSteps > 0:
		c.Cold = int64(s.ColdSteps) * int64(s.Step) * 1_000_000
	}
	if s.Scaler == nil && o.Has("replicas") && len(c.Replicas) == 0 && o.IsClean("replicas") {
		o.Fault("replicas", "replicas are none: nothing serves the requests")
	}
	if len(c.Time.Lin) == 0 || c.Blocks == 0 && !o.Has("blocks") {
		return
	}
	s.isServable = true
	s.completeServing()
	if s.Prefill != nil && o.IsClean("prefill") {
		if len(s.Prefill.Config.Replicas) == 0 {
			o.Fault("prefill", "prefill has no replicas")
		} else if err := s.Prefill.Config.Check(); err != nil {
			o.Fault("prefill", "prefill: %s", err)
		}
	}
	dummy := *c
	if len(dummy.Replicas) == 0 {
		dummy.Replicas = readyReplicas(1)
	}
	if err := dummy.Check(); err != nil && o.IsClean("time", "blocks", "block_size", "max_tokens", "max_seqs", "max_len", "watermark", "price", "cold", "policy", "batching", "router", "replicas") {
		field, text := "", err.Error()
		if q, ok := errors.AsType[*capcli.RequestError](err); ok {
			field = q.Field
			if q.Hint != "" {
				text += "; " + q.Hint
			}
		}
		o.Fault(field, "%s", text)
	}
}

// completeServing fills in what depends on other fields.
func (s *Spec) completeServing() {
	c := &s.Config
	if c.MaxLen == 0 {
		c.MaxLen = max(2, min((c.Blocks-c.Watermark)*c.BlockSize, maxCount))
	}
	if c.MaxTokens == 0 {
		c.MaxTokens = usualTokens
		if c.Policy != "chunked" {
			c.MaxTokens = max(c.MaxTokens, c.MaxLen)
		}
	}
	s.completePrefill()
}

// Servable returns the configuration of a service whose requests can be played. The error names what it
// lacks.
func (s *Spec) Servable() (*serving.Config, error) {
	var lacks []string
	if len(s.Config.Time.Lin) == 0 {
		lacks = append(lacks, "time")
	}
	if !s.isServable && s.Config.Blocks == 0 {
		lacks = append(lacks, "blocks")
	}
	if len(s.Config.Replicas) == 0 {
		lacks = append(lacks, "replicas")
	}
	if lacks != nil {
		return nil, &capcli.InputError{
			Field: strings.Join(lacks, ", "), Text: "missing: requests cannot be played without the time of an iteration, the KV cache and the replicas",
			Hint: "capcli service init prints a service with every field",
		}
	}
	return &s.Config, nil
}
