export COUNTERSIGN_SERVER="@SERVER@"
export COUNTERSIGN_TOKEN="@TOKEN@"
countersign connect claude-code
