export COUNTERSIGN_SERVER="@SERVER@"
export COUNTERSIGN_TOKEN="@TOKEN@"
id="curl-$(date +%s)-$$" # the same in each repeat: the same request
while
  answer=$(curl -sS --max-time 80 -w '\n%{http_code}' "$COUNTERSIGN_SERVER/v1/approvals?wait=50s" \
    -H "Authorization: Bearer $COUNTERSIGN_TOKEN" -H "Content-Type: application/json" \
    -d '{"toolUseId": "'"$id"'", "toolName": "send_email", "input": {"to": "ann@example.com"}}')
  [ "${answer##*[!0-9]}" = 202 ]
do :; done
echo "$answer"
