export COUNTERSIGN_SERVER="@SERVER@"
export COUNTERSIGN_TOKEN="@TOKEN@"
claude -p "Create the file hello.txt." --permission-prompt-tool mcp__countersign__approve --mcp-config '{
  "mcpServers": {"countersign": {
    "type": "http", "url": "${COUNTERSIGN_SERVER}/mcp/session",
    "headers": {"Authorization": "Bearer ${COUNTERSIGN_TOKEN}"}
  }}
}'
