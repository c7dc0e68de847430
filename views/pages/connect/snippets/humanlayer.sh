export HUMANLAYER_API_BASE="@SERVER@/humanlayer/v1"
export HUMANLAYER_API_KEY="@TOKEN@"
npm install @humanlayer/sdk@0.7.9
node agent.mjs
