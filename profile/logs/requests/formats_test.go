package requests

import "testing"

func init() {
	samples["csv"] = []sample{
		{
			data: "arrival_us,tokens_in,tokens_out,cached,prefix,user,model\n0,10,2,4,sys,ann,a\n1500,20,1,,,bob,a\n1500,7,3,0,sys,,b\n",
			want: []Row{{0, 10, 2, 4, 1, 1, 1}, {1500, 20, 1, 0, 0, 2, 1}, {1500, 7, 3, 0, 1, 0, 2}},
		},
		{data: "id;Arrival_MS;Prompt Tokens;completion-tokens\n1;1.5;10;2\n2;0.5;20;1\n", want: []Row{{Arrival: 500, In: 20, Out: 1}, {Arrival: 1500, In: 10, Out: 2}}, note: "columns not read: id"},
		{data: "arrived_at,num_prefill_tokens,num_decode_tokens\n0.25,10.0,2\n3,nan,1\n3,9,1\n", want: []Row{{Arrival: 250_000, In: 10, Out: 2}, {Arrival: 3_000_000, In: 9, Out: 1}}, note: "no tokens in"},
	}
	samples["azure"] = []sample{
		{
			data: "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:17:03.9799600,4808,10\n2023-11-16 18:17:04.0319600,3180,8\n",
			want: []Row{{Arrival: 0, In: 4808, Out: 10}, {Arrival: 52_000, In: 3180, Out: 8}}, note: "read as UTC",
		},
		{
			data: "TIMESTAMP,ContextTokens,GeneratedTokens\n2024-05-10 00:00:00.009930+00:00,2162,5\n2024-05-10 00:00:00.017335+00:00,2399,6\n",
			want: []Row{{Arrival: 0, In: 2162, Out: 5}, {Arrival: 7405, In: 2399, Out: 6}},
		},
	}
	samples["burstgpt"] = []sample{
		{
			data: "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,ChatGPT,472,18,490,Conversation log\n45,ChatGPT,1087,0,1087,API log\n118,GPT-4,417,276,693,Conversation log\n",
			want: []Row{{Arrival: 5e6, In: 472, Out: 18, Model: 1}, {Arrival: 118e6, In: 417, Out: 276, Model: 2}}, note: "1 of 3 rows have no tokens out",
		},
		{
			data: "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n5,s1,1.5,GPT-4,4,8,12,API log\n6,s1,0.5,GPT-4,5,1,6,API log\n",
			want: []Row{{Arrival: 5e6, In: 4, Out: 8, User: 1, Model: 1}, {Arrival: 6e6, In: 5, Out: 1, User: 1, Model: 1}}, note: "whole seconds",
		},
	}
	samples["mooncake"] = []sample{{
		data: `{"timestamp": 0, "input_length": 1500, "output_length": 52, "hash_ids": [1, 2, 3]}
{"timestamp": 27, "input_length": 1100, "output_length": 26, "hash_ids": [1, 4, 5]}
{"timestamp": 28, "input_length": 2000, "output_length": 3, "hash_ids": [1, 2, 3, 6]}
{"timestamp": 29, "input_length": 1020, "output_length": 0, "hash_ids": [1, 2]}
`,
		want: []Row{{0, 1500, 52, 0, 1, 0, 0}, {27_000, 1100, 26, 512, 2, 0, 0}, {28_000, 2000, 3, 1536, 1, 0, 0}}, note: "endless cache",
	}}
	samples["mooncake-csv"] = []sample{{
		data: "timestamp_ms,tokens_in,tokens_out,blocks512,prefix_blocks_seen\n0,6758,500,14,0\n3000,600,490,2,2\n",
		want: []Row{{Arrival: 0, In: 6758, Out: 500}, {Arrival: 3_000_000, In: 600, Out: 490, Cached: 600}}, note: "endless cache",
	}}
	samples["jsonl"] = []sample{
		{
			data: `{"created": 1715299200, "model": "m", "user": "ann", "usage": {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 8}}}
{"created": 1715299203, "model": "m", "error": "overloaded"}
{"created": 1715299201.5, "model": "n", "user": null, "usage": {"prompt_tokens": 5, "completion_tokens": 1}}
`,
			want: []Row{{0, 10, 2, 8, 0, 1, 1}, {1_500_000, 5, 1, 0, 0, 0, 2}}, note: "1 of 3 rows have no tokens out",
		},
		{data: `[{"arrival_us": 5, "tokens_in": 2, "tokens_out": 3},
 {"arrival_us": 4, "tokens_in": "7", "tokens_out": 1}]
`, want: []Row{{Arrival: 4, In: 7, Out: 1}, {Arrival: 5, In: 2, Out: 3}}},
	}
}

func FuzzCSV(f *testing.F)         { fuzz(f, "csv") }
func FuzzAzure(f *testing.F)       { fuzz(f, "azure") }
func FuzzBurstGPT(f *testing.F)    { fuzz(f, "burstgpt") }
func FuzzMooncake(f *testing.F)    { fuzz(f, "mooncake") }
func FuzzMooncakeCSV(f *testing.F) { fuzz(f, "mooncake-csv") }
func FuzzJSONL(f *testing.F)       { fuzz(f, "jsonl") }
