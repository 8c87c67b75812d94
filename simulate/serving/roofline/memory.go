package roofline

import (
	"fmt"
	"math/bits"
	"strings"

	"capcli"
)

// Demand says what lies in the memory of the GPUs of a replica.
type Demand struct {
	Model      Model
	GPUs       int64 // tensor parallel
	WeightBits int64
	CacheBits  int64
	GPUBytes   int64 // memory of one GPU
	Permille   int64 // of it that may be used
	Reserve    int64 // bytes of each GPU for activations and the runtime
	BlockSize  int64 // tokens of a block
}

// Memory is what a model needs of each of its GPUs, and what is left for the KV cache.
type Memory struct {
	WeightBytes int64 `json:"weight_bytes_per_gpu"`
	TokenBytes  int64 `json:"kv_bytes_per_token_per_gpu"`
	Blocks      int64 `json:"blocks"` // of the KV cache of a replica
	Tokens      int64 `json:"tokens"` // that they hold
	Fits        bool  `json:"fits"`
}

// Memory returns the use of memory. It follows from the definition of a paged KV cache (Kwon et al.,
// "Efficient Memory Management for Large Language Model Serving with PagedAttention", SOSP 2023, section 4):
//
//	weights of a GPU = ceil(parameters · weight bits / (8 · GPUs)) bytes
//	KV of a token    = 2 · layers · max(1, KV heads / GPUs) · head size · cache bits / 8 bytes on each GPU
//	blocks           = floor((GPU bytes · permille / 1000 - weights - reserve) / (KV of a token · block size))
//
// Heads of keys and values are repeated where they are fewer than the GPUs.
func (d *Demand) Memory() Memory {
	m := Memory{
		WeightBytes: weightBytes(d.Model.Parameters, d.WeightBits, d.GPUs),
		TokenBytes:  2 * d.Model.Layers * max(1, d.Model.KVHeads/d.GPUs) * d.Model.HeadDim * d.CacheBits / 8,
	}
	m.TokenBytes = max(1, m.TokenBytes)
	left := d.usable() - m.WeightBytes - d.Reserve
	m.Blocks = max(0, left/(m.TokenBytes*d.BlockSize))
	m.Tokens = m.Blocks * d.BlockSize
	m.Fits = m.Blocks > 0
	return m
}

func (d *Demand) usable() int64 { return d.GPUBytes/1000*d.Permille + d.GPUBytes%1000*d.Permille/1000 }

func weightBytes(parameters, weightBits, gpus int64) int64 {
	hi, lo := bits.Mul64(uint64(parameters), uint64(weightBits))
	q, r := bits.Div64(hi, lo, uint64(8*gpus))
	if r > 0 {
		q++
	}
	return int64(q)
}

// Check returns a *capcli.RequestError for a wrong number, or if the model does not fit: by how much, and
// what would fit.
func (d *Demand) Check() error {
	if err := d.Model.Check(); err != nil {
		return err
	}
	for _, f := range []struct {
		name   string
		v      int64
		lo, hi int64
	}{
		{"tensor_parallel", d.GPUs, 1, 1024},
		{"weights", d.WeightBits, 1, 64},
		{"kv", d.CacheBits, 1, 64},
		{"gpu_memory", d.GPUBytes, 1 << 20, 1 << 50},
		{"utilisation", d.Permille, 1, 1000},
		{"reserve", d.Reserve, 0, 1 << 50},
		{"block_size", d.BlockSize, 1, 1 << 20},
	} {
		if f.v < f.lo || f.v > f.hi {
			return &capcli.RequestError{Field: f.name, Text: fmt.Sprintf("wants %d to %d, found %d", f.lo, f.hi, f.v)}
		}
	}
	if m := d.Memory(); !m.Fits {
		return d.misfit(m)
	}
	return nil
}

// misfit says by how much the model is too large, and what would fit.
func (d *Demand) misfit(m Memory) error {
	short := m.WeightBytes + d.Reserve + m.TokenBytes*d.BlockSize - d.usable()
	text := fmt.Sprintf(": the model does not fit: its weights in %d bits on %d %s take %s a GPU, the reserve %s and one block of the KV cache %s; %s of %s may be used, so %s are missing on each GPU",
		d.WeightBits, d.GPUs, capcli.Agree(d.GPUs, "GPU", "GPUs"), Bytes(m.WeightBytes), Bytes(d.Reserve), Bytes(m.TokenBytes*d.BlockSize), Bytes(d.usable()), Bytes(d.GPUBytes), Bytes(short))
	return &capcli.RequestError{Field: "model", Text: text, Hint: d.remedy()}
}

// remedy lists what would make the model fit: the least width for these weights, and fewer bits.
func (d *Demand) remedy() string {
	var out []string
	try := *d
	for try.GPUs = d.GPUs * 2; try.GPUs <= d.Model.Heads; try.GPUs *= 2 {
		if d.Model.Heads%try.GPUs == 0 && try.Memory().Fits {
			out = append(out, fmt.Sprintf("tensor_parallel: %d", try.GPUs))
			break
		}
	}
	try = *d
	for _, try.WeightBits = range []int64{8, 4} {
		if try.WeightBits < d.WeightBits && try.Memory().Fits {
			out = append(out, fmt.Sprintf("weights of %d bits", try.WeightBits))
			break
		}
	}
	if try = *d; try.Reserve > 0 {
		if try.Reserve = 0; try.Memory().Fits {
			out = append(out, "a smaller reserve")
		}
	}
	if len(out) == 0 {
		return "neither more GPUs nor 4-bit weights make it fit: it needs GPUs with more memory"
	}
	return "it fits with " + strings.Join(out, ", or with ")
}

// Bytes writes an amount of memory in GiB or MiB.
func Bytes(n int64) string {
	if n >= 1<<30 || n == 0 {
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	}
	return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
}

// Operations gives the time of the operations of a model on one kind of GPU, in microseconds.
type Operations interface {
	// Product is the time of an m by k matrix times a k by n matrix, whose weights have a type.
	Product(weights string, m, n, k float64) float64
	// Prefill is the time of attention over whole prompts: batch of them, each of length tokens.
	Prefill(a Attention, batch, length float64) float64
	// Decode is the time of attention of one step of batch sequences, each after tokens before it.
	Decode(a Attention, batch, after float64) float64
	// AllReduce is the time of an all-reduce of elements of two bytes between GPUs.
	AllReduce(gpus int64, elements float64) float64
	// Tokens are the token counts at which products are known, ascending.
	Tokens(weights string) []float64
}

// Attention is the shape of attention on one GPU: its heads, and the type of the KV cache.
type Attention struct {
	Heads, KVHeads int64
	Cache          string // bfloat16 or fp8
}

// interpolate interpolates on the line of the two known values nearest to x; value is 0 where it is unknown.
func interpolate(xs []float64, x float64, value func(i int) float64) float64 {
	lo, hi := -1, -1
	for i, at := range xs {
		if value(i) <= 0 {
			continue
		}
		switch {
		case hi < 0:
			hi = i
		case at <= x || xs[hi] < x:
			lo, hi = hi, i
		}
	}
	if hi < 0 {
		return 0
	}
	if lo < 0 {
		return value(hi)
	}
	share := (x - xs[lo]) / (xs[hi] - xs[lo])
	return max(value(lo)+(value(hi)-value(lo))*share, min(value(lo), value(hi))/2)
}

// String names the shape.
func (a Attention) String() string {
	return fmt.Sprintf("%d/%d heads, %s", a.Heads, a.KVHeads, a.Cache)
}
