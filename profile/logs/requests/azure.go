package requests

func init() {
	Formats.Add("azure", "Azure's LLM inference traces of 2023 and 2024: TIMESTAMP, ContextTokens, GeneratedTokens",
		Format{Sniff: func(head []byte) bool { return hasColumns(head, "TIMESTAMP", "ContextTokens", "GeneratedTokens") }, Read: readAzure})
}

// readAzure reads a trace of Azure (github.com/Azure/AzurePublicDataset, AzureLLMInferenceDataset2023 and
// 2024). The times of 2023 have seven decimals and no zone; those of 2024 have a zone.
func readAzure(r *Reader) error {
	if r.o.TZ == nil {
		r.Note("times without a zone were read as UTC (tz names another)")
	}
	return r.readColumns()
}
