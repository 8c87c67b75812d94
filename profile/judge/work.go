package judge

import (
	"fmt"
	"math"
	"strings"
	"unicode"
)

// WorkKind is what a job does, in the words of those who run it.
type WorkKind string

// The kinds of work.
const (
	Training    WorkKind = "training"
	FineTuning  WorkKind = "fine_tuning"
	Inference   WorkKind = "inference"
	Interactive WorkKind = "interactive"
	UnknownWork WorkKind = "unknown"
)

// WorkCase is what is known of a job. Shares are from 0 to 1, NaN where not known.
type WorkCase struct {
	Command        string // of one of its processes
	Devices, Hosts int
	Held           int64 // microseconds of devices
	Tally          Tally
	Rhythm         Rhythm
	Tensor         float64 // %, mean
	MemoryLow      float64 // % of the device, 5th percentile
	MemoryHigh     float64 // 95th
}

// WorkFinding is a kind of work with what speaks for it.
type WorkFinding struct {
	Kind       WorkKind   `json:"kind"`
	Confidence Confidence `json:"confidence"`
	Evidence   []string   `json:"evidence"`
}

// workWord is the begin of a word of a command that tells the kind of work. A launcher tells less
// than a script's name.
type workWord struct {
	begin    string
	kind     WorkKind
	launcher bool
}

var workWords = []workWord{
	{"jupyter", Interactive, false},
	{"ipykernel", Interactive, false},
	{"ipython", Interactive, false},
	{"notebook", Interactive, false},
	{"colab", Interactive, false},
	{"marimo", Interactive, false},
	{"finetun", FineTuning, false},
	{"lora", FineTuning, false},
	{"qlora", FineTuning, false},
	{"sft", FineTuning, false},
	{"dpo", FineTuning, false},
	{"grpo", FineTuning, false},
	{"rlhf", FineTuning, false},
	{"peft", FineTuning, false},
	{"axolotl", FineTuning, false},
	{"unsloth", FineTuning, false},
	{"llamafactory", FineTuning, false},
	{"vllm", Inference, false},
	{"tritonserver", Inference, false},
	{"sglang", Inference, false},
	{"tgi", Inference, false},
	{"trtllm", Inference, false},
	{"lmdeploy", Inference, false},
	{"ollama", Inference, false},
	{"torchserve", Inference, false},
	{"bentoml", Inference, false},
	{"serve", Inference, false},
	{"serving", Inference, false},
	{"infer", Inference, false},
	{"generat", Inference, false},
	{"predict", Inference, false},
	{"embed", Inference, false},
	{"train", Training, false},
	{"pretrain", Training, false},
	{"megatron", Training, false},
	{"torchtitan", Training, false},
	{"horovodrun", Training, true},
	{"torchrun", Training, true},
	{"deepspeed", Training, true},
	{"accelerate", Training, true},
	{"distributed", Training, true},
}

// commandWord returns the word of a command that tells the kind of work. The name of a script goes
// before a launcher, and a word for fine-tuning before one for training.
func commandWord(command string) (best workWord, text string, ok bool) {
	command = strings.NewReplacer("fine-tun", "finetun", "fine_tun", "finetun", "text-generation", "tgi", "llama-factory", "llamafactory", "llama-server", "serve").Replace(strings.ToLower(command))
	words := strings.FieldsFunc(command, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, word := range words {
		for _, w := range workWords {
			if !strings.HasPrefix(word, w.begin) {
				continue
			}
			if !ok || best.launcher && !w.launcher || best.kind == Training && w.kind == FineTuning {
				best, text, ok = w, word, true
			}
			break
		}
	}
	return best, text, ok
}

// Thresholds of the kind of work.
const (
	idleInteractive = 0.8  // of the time held without work
	steadyMemory    = 2.0  // % of the device between the 5th and the 95th percentile
	reservedMemory  = 75.0 // % of the device, that servers reserve
	hardShare       = 0.5  // of the time near a limit or waiting on links
	someTensor      = 3.0
	someMemory      = 20.0
)

// Work says what kind of work a job is: by its command, else by what its minutes show.
func Work(c *WorkCase) WorkFinding {
	if w, text, ok := commandWord(c.Command); ok {
		sure := High
		if w.launcher {
			sure = Medium
		}
		return WorkFinding{w.kind, sure, append([]string{fmt.Sprintf("its command says %q", text)}, c.signs()...)}
	}
	held := c.Tally.Total()
	if held == 0 {
		return WorkFinding{UnknownWork, Low, []string{}}
	}
	share := func(signs ...Sign) float64 {
		n := int64(0)
		for _, s := range signs {
			n += c.Tally.Time(s)
		}
		return float64(n) / float64(held)
	}
	idle := share(SignIdle, SignIdleTraffic)
	hard := share(SignCompute, SignWork, SignNVLink, SignNetwork, SignPCIeEven, SignHeat, SignPower, SignPausedInput)
	soft := share(SignLight, SignGaps, SignMemory, SignSmall)
	if c.uneven() {
		soft += share(SignPaused)
	} else {
		hard += share(SignPaused)
	}
	steady := c.MemoryHigh-c.MemoryLow <= steadyMemory
	gang := max(c.Devices, c.Hosts)
	links := share(SignNVLink, SignNetwork)
	f := WorkFinding{UnknownWork, Low, c.signs()}
	switch {
	case idle >= idleInteractive && gang <= 1 && idle < 1-neverShare:
		f.Kind, f.Evidence = Interactive, append(f.Evidence, fmt.Sprintf("works for %.0f%% of the time, on one GPU", 100*(1-idle)))
	case hard+links >= hardShare && gang > 1 && c.Tensor >= someTensor:
		f.Kind, f.Confidence = Training, Medium
		f.Evidence = append(f.Evidence, fmt.Sprintf("%d GPUs work hard together for %.0f%% of the time", c.Devices, 100*hard))
	case hard >= hardShare && c.Tensor >= someTensor:
		f.Kind = Training
		f.Evidence = append(f.Evidence, fmt.Sprintf("works hard and evenly for %.0f%% of the time", 100*hard))
	case soft >= hardShare && steady && c.MemoryHigh >= reservedMemory:
		f.Kind, f.Confidence = Inference, Medium
		f.Evidence = append(f.Evidence, fmt.Sprintf("memory stays at %.0f%%, and the load is light, uneven or bound by memory for %.0f%% of the time", c.MemoryHigh, 100*soft))
	case soft-share(SignMemory, SignSmall) >= hardShare && steady && c.MemoryHigh >= someMemory:
		f.Kind = Inference
		f.Evidence = append(f.Evidence, fmt.Sprintf("bursts without a rhythm or a light load for %.0f%% of the time", 100*soft))
	}
	return f
}

// uneven tells whether bursts come without a rhythm.
func (c *WorkCase) uneven() bool {
	return c.Rhythm.Bursts >= leastBursts && c.Rhythm.Variation() > unevenCV
}

// signs returns the signs of the kind of work in words.
func (c *WorkCase) signs() []string {
	out := []string{}
	if c.Rhythm.Bursts >= leastBursts {
		how := "steady"
		if c.uneven() {
			how = "uneven"
		}
		out = append(out, fmt.Sprintf("a burst each %.1f s, %s", c.Rhythm.Period(), how))
	}
	if gap := c.MemoryHigh - c.MemoryLow; !math.IsNaN(gap) {
		how := "steady"
		if gap > steadyMemory {
			how = "changing"
		}
		out = append(out, fmt.Sprintf("memory %s, %.0f%% at most", how, c.MemoryHigh))
	}
	if c.Hosts > 1 {
		out = append(out, fmt.Sprintf("%d GPUs on %d boxes", c.Devices, c.Hosts))
	}
	return out
}
